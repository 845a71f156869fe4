/** The notices about credentials and offline certificates. */
import type { Statement } from "effect/sql"

/** The last day on which the rules provide for logins by token (Dz.U. 2025 poz. 1815, § 13). */
export const tokensUntil = "2026-12-31"

/** The day in Poland from which owners are told so. */
export const tokensToldFrom = "2026-12-01"

// Before its end, the owner of a credential is told 30, 7 and 1 days ahead. Each is a notice of its own, and the nearest counts.
const nearest = (sql: Statement.Constructor, now: Statement.Fragment, end: Statement.Fragment) => sql`
  CASE WHEN ${end} <= ${now} + interval '1 day' THEN '1_day' WHEN ${end} <= ${now} + interval '7 days' THEN '7_days' ELSE '30_days' END
`

/** Selects the notices about the credentials and certificates of an environment. */
export const selectCredentialNotices = (
  sql: Statement.Constructor,
  now: Statement.Fragment,
  environment: string | null
): Statement.Fragment => sql`
  SELECT 'credential_expiring' AS kind, id AS organization_id, NULL::text AS endpoint_id, NULL::text AS url,
         credential_expires_at AS at, key, key = ANY (credential_told) AS is_told, credential_updated_at AS version
  FROM organizations CROSS JOIN LATERAL (SELECT ${nearest(sql, now, sql`credential_expires_at`)} AS key) AS step
  WHERE credential_expires_at <= ${now} + interval '30 days' AND credential_environment = ${environment}::text
  UNION ALL
  SELECT 'token_login_ending', id, NULL, NULL, NULL, 'token_login', 'token_login' = ANY (credential_told), credential_updated_at
  FROM organizations
  WHERE credential_kind = 'ksef_token' AND credential_environment = ${environment}::text
    AND ${now} >= ${tokensToldFrom}::timestamp AT TIME ZONE 'Europe/Warsaw'
  UNION ALL
  SELECT 'offline_certificate_expiring', id, NULL, NULL, valid_until, key, key = ANY (told), updated_at
  FROM offline_certificates CROSS JOIN LATERAL (SELECT ${nearest(sql, now, sql`valid_until`)} AS key) AS step
  WHERE valid_until <= ${now} + interval '30 days' AND environment = ${environment}::text
`

/** Notes that the owner was told about a credential or certificate, unless it was replaced meanwhile. */
export const tellCredential = (
  sql: Statement.Constructor,
  kind: "credential_expiring" | "offline_certificate_expiring" | "token_login_ending",
  { id, key, version }: { readonly id: string; readonly key: string; readonly version: Date }
): Statement.Statement<object> =>
  kind === "offline_certificate_expiring"
    ? sql`
        UPDATE offline_certificates SET told = array_append(told, ${key}::text)
        WHERE id = ${id} AND date_trunc('milliseconds', updated_at) = ${version}::timestamptz
      `
    : sql`
        UPDATE organizations SET credential_told = array_append(credential_told, ${key}::text)
        WHERE id = ${id} AND date_trunc('milliseconds', credential_updated_at) = ${version}::timestamptz
      `
