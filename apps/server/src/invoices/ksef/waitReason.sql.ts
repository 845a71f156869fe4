/**
 * Why a live invoice waits. Nothing is written to the invoice: its record is read with the reason of its taxpayer, which the holder of
 * the lane stores there, of its credential, or of an outage.
 */
import { PgTypes } from "@effect/sql-pg"
import type { Invoice } from "@govoice/core"
import type { Statement } from "effect/sql"

/** A reason of a lane, and until when it waits, as an ISO 8601 timestamp. */
export interface StoredReason extends Invoice.Reason {
  readonly until: string
}

/** Why the steps of a lane wait. */
export interface StoredReasons {
  readonly send?: StoredReason
  readonly verdicts?: StoredReason
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
  message: "The invoice waits for its turn."
}

// Anybody can store a credential that names the taxpayer of somebody else: while KSeF accepts another one, the lane tells nothing.
const maySeeLane = (sql: Statement.Constructor): Statement.Fragment => sql`
  (credential_state = 'accepted' OR NOT EXISTS (
    SELECT 1 FROM organizations AS other
    WHERE other.credential_context = organizations.credential_context AND other.credential_state = 'accepted'
      AND other.credential_environment = organizations.credential_environment
  ))
`

/** The `failure` of a row of `invoices`: its own, or after 30 seconds why it waits. */
export const shownFailure = (sql: Statement.Constructor, now: Statement.Fragment): Statement.Fragment => {
  const json = (reason: Invoice.Reason) => sql`${PgTypes.jsonb(reason)}::jsonb`
  const before = sql`${now} - interval '30 seconds'`
  // A lane that is due is claimed within a minute. Otherwise all workers are gone, or KSeF is.
  const current = sql`CASE WHEN national_lanes.due_at > ${now} - interval '1 minute' THEN trouble END`
  return sql`
    coalesce(invoices.failure, CASE
      WHEN invoices.mode = 'live' AND CASE
        WHEN invoices.status = 'queued' THEN invoices.due_at <= ${before}
        WHEN invoices.status IN ('submitting', 'submitted') THEN invoices.updated_at <= ${before}
      END THEN (
        SELECT CASE
          WHEN invoices.status <> 'queued' THEN coalesce(verdicts, unavailable)
          WHEN credential_environment IS DISTINCT FROM environment THEN ${json(credentialMissing)}
          WHEN credential_state = 'refused' THEN ${json(credentialRefused)}
          ELSE coalesce(
            send, verdicts, CASE credential_state WHEN 'unchecked' THEN ${json(credentialUnchecked)} END, unavailable,
            ${json(itsTurn)}
          )
        END - 'until'
        FROM organizations
        LEFT JOIN national_lanes ON context = credential_context AND ${maySeeLane(sql)}
        LEFT JOIN national_environment ON is_only
        CROSS JOIN LATERAL (
          SELECT ${current}->'send' AS send, ${current}->'verdicts' AS verdicts,
                 CASE WHEN (outage->>'until')::timestamptz > ${now} THEN outage END AS unavailable
        ) AS reasons
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
        SELECT greatest(
          to_timestamp(greatest((blocked->'lane'->>'until')::float8, (blocked->'sending'->>'until')::float8) / 1000),
          (trouble->'send'->>'until')::timestamptz
        )
        FROM organizations JOIN national_lanes ON context = credential_context AND ${maySeeLane(sql)}
        WHERE organizations.id = invoices.organization_id
      ) END)
    ) AS attempt (at)
    WHERE at > ${now}
  ) END
`
