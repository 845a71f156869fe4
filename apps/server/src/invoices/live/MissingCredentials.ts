/**
 * Live invoices of an organization wait while it has no credential for the environment: its credential was deleted, or is
 * for another environment. This module has one of them show the reason.
 *
 * No lane has them. As with a refused credential, one invoice of the organization is `retrying` and shows the reason, until the
 * time to give up; the others stay queued. After a credential is stored, all of them are sent at once.
 */
import { Clock, Context, Effect, Layer, Random } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { textArray } from "../../database/Arrays.ts"
import { StatementTime } from "../../database/StatementTime.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import type { SendingInvoice } from "./ksef/laneRows.ts"
import * as liveTransitions from "./ksef/liveTransitions.ts"
import { unreadableSession } from "./ksef/StatusRules.ts"
import * as TransitionSteps from "../TransitionSteps.ts"

const failure = {
  code: "gateway_credential_missing",
  message: "The organization has no KSeF credential for the environment of this deployment. Store one."
}

/** Organizations that are looked at in one go. */
const maxOrganizations = 1000

/** Shows missing credentials. */
export class MissingCredentials extends Context.Service<
  MissingCredentials,
  {
    /** Has one invoice of each organization without a credential show it, and returns how many were written. */
    readonly show: Effect.Effect<number, SqlError.SqlError>
  }
>()("@govoice/server/invoices/live/MissingCredentials") {}

/** Provides `MissingCredentials` for credentials of this environment. */
export const layerOf = (
  environmentId: string,
  giveUpMs: number
): Layer.Layer<MissingCredentials, never, Notifier | SqlClient.SqlClient> =>
  Layer.effect(
    MissingCredentials,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const notifier = yield* Notifier
      const statementTime = (yield* StatementTime)(sql)
      const steps = yield* TransitionSteps.make

      const waits = sql`mode = 'live' AND status IN ('queued', 'retrying')`
      const lacks = sql`organizations.credential_environment IS DISTINCT FROM ${environmentId}`
      const shows = sql`status = 'retrying' AND failure->>'code' = ${failure.code}`

      // An invoice whose session could not be read is not given up: KSeF may have it.
      // One lookup in the index for each organization. The invoice that shows the reason is not due; where none does, it is
      // the one that did before, or the oldest.
      const select = Effect.flatMap(
        statementTime,
        (now) => sql<SendingInvoice & { readonly may_have_it: boolean }>`
          WITH RECURSIVE waiting (organization_id, position) AS (
            (SELECT organization_id, 1 FROM invoices WHERE ${waits} ORDER BY organization_id, due_at, id LIMIT 1)
            UNION ALL
            SELECT next.organization_id, position + 1 FROM waiting CROSS JOIN LATERAL (
              SELECT organization_id FROM invoices WHERE ${waits} AND organization_id > waiting.organization_id
              ORDER BY organization_id, due_at, id LIMIT 1
            ) AS next
            WHERE position < ${maxOrganizations}::int
          )
          SELECT invoice.*, sha256, seller_nip, issue_date, invoice_number, form_code, schema_version,
                 EXISTS (
                   SELECT 1 FROM national_submissions WHERE invoice_id = invoice.id AND code = ${unreadableSession}::int
                 ) AS may_have_it
          FROM waiting JOIN organizations ON organizations.id = waiting.organization_id AND ${lacks}
          CROSS JOIN LATERAL (
            SELECT * FROM invoices
            WHERE organization_id = waiting.organization_id AND ${waits} AND due_at <= ${now}
            ORDER BY ${shows} DESC, due_at, id LIMIT 1
          ) AS invoice
          JOIN invoice_documents ON invoice_id = invoice.id
          WHERE NOT EXISTS (
            SELECT 1 FROM invoices
            WHERE organization_id = waiting.organization_id AND ${waits} AND due_at > ${now} AND ${shows}
          )
        `
      )

      return {
        show: Effect.gen(function* () {
          const rows = yield* select
          if (rows.length === 0) return 0
          const now = yield* Clock.currentTimeMillis
          const random = yield* Random.next
          const pending = rows.map((row) => {
            const tried = { ...row, status: "submitting", attempt_count: row.attempt_count + 1 } as const
            return {
              ...liveTransitions.attemptFailed(tried, failure, now, {
                giveUpMs: row.may_have_it ? Infinity : giveUpMs,
                random
              }),
              statusBefore: row.status
            }
          })
          // The lock waits for a credential that is being stored, and has a later one wait for this statement.
          const written = yield* sql`
            WITH owner AS MATERIALIZED (
              SELECT id FROM organizations WHERE id = ANY(${textArray(rows.map((row) => row.organization_id))}) AND ${lacks}
              ORDER BY id FOR SHARE
            ), ${steps(
              pending,
              sql`invoices.status = transition.status_before AND invoices.organization_id IN (SELECT id FROM owner)`
            )}
            SELECT id FROM transitioned
          `
          if (pending.some(({ transition }) => transition.emits !== null)) {
            yield* notifier.wake(
              "deliveries",
              rows.map((row) => row.organization_id)
            )
          }
          return written.length
        }).pipe(Effect.withSpan("MissingCredentials.show"))
      }
    })
  )
