/**
 * Why a live invoice waits. Nothing is written to the invoice: its record is read with the reason of its taxpayer, which the holder of
 * the lane stores there, of its credential, or of an outage.
 */
import { PgTypes } from "@effect/sql-pg"
import type { Invoice } from "@govoice/core"
import type { Statement } from "effect/sql"

/** The reason of a lane, and until when it waits, in milliseconds since the epoch. */
export interface StoredReason extends Invoice.Reason {
  readonly until: number
}

/** The organization has no credential. */
export const credentialMissing: Invoice.Reason = {
  code: "gateway_credential_missing",
  message: "The organization has no KSeF credential for the environment of this deployment. Store one."
}

/** The credential of the organization was refused. */
export const credentialRefused: Invoice.Reason = {
  code: "gateway_credential_refused",
  message: "KSeF refused the credential of the organization. Replace it, or repair it at KSeF."
}

const credentialUnchecked: Invoice.Reason = {
  code: "gateway_unavailable",
  message: "KSeF has not accepted the credential of the organization yet."
}

const itsTurn: Invoice.Reason = {
  code: "gateway_limit",
  message: "The invoice waits for its turn: earlier invoices are sent first."
}

/** The `failure` of a row of `invoices`: its own, or after 30 seconds why it waits. */
export const shownFailure = (sql: Statement.Constructor, now: Statement.Fragment): Statement.Fragment => {
  const json = (reason: Invoice.Reason) => sql`${PgTypes.jsonb(reason)}::jsonb`
  const before = sql`${now} - interval '30 seconds'`
  return sql`
    coalesce(invoices.failure, CASE
      WHEN invoices.mode = 'live' AND CASE
        WHEN invoices.status = 'queued' THEN invoices.due_at <= ${before}
        WHEN invoices.status IN ('submitting', 'submitted') THEN invoices.updated_at <= ${before}
      END THEN (
        SELECT CASE
          WHEN invoices.status <> 'queued' THEN trouble - 'until'
          WHEN credential_environment IS DISTINCT FROM environment THEN ${json(credentialMissing)}
          WHEN credential_state = 'refused' THEN ${json(credentialRefused)}
          WHEN trouble IS NOT NULL THEN trouble - 'until'
          WHEN credential_state = 'unchecked' THEN ${json(credentialUnchecked)}
          WHEN (outage->>'until')::timestamptz > ${now} THEN outage - 'until'
          ELSE ${json(itsTurn)}
        END
        FROM organizations
        LEFT JOIN national_lanes ON context = credential_context
        LEFT JOIN national_environment ON is_only
        WHERE organizations.id = invoices.organization_id
      )
    END)
  `
}

/** The `next_attempt_at` of a row of `invoices`: a live one is not tried while its taxpayer waits, and a time that has come is one no more. */
export const shownNextAttempt = (sql: Statement.Constructor, now: Statement.Fragment): Statement.Fragment => sql`
  CASE WHEN invoices.next_attempt_at IS NOT NULL THEN (
    SELECT at FROM (
      SELECT greatest(invoices.next_attempt_at, CASE invoices.mode WHEN 'live' THEN (
        SELECT to_timestamp(greatest(
          (blocked->'lane'->>'until')::float8, (blocked->'sending'->>'until')::float8, (trouble->>'until')::float8
        ) / 1000)
        FROM organizations JOIN national_lanes ON context = credential_context
        WHERE organizations.id = invoices.organization_id
      ) END)
    ) AS attempt (at)
    WHERE at > ${now}
  ) END
`
