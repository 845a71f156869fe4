/** Live invoices whose organization has no credential for this environment: no lane has them. */
import { Clock, Effect, Metric, Random } from "effect"
import { SqlClient } from "effect/sql"
import { textArray } from "../../database/Arrays.ts"
import { StatementTime } from "../../database/StatementTime.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import { columnsOf } from "../ClaimedInvoice.ts"
import * as TransitionSteps from "../TransitionSteps.ts"
import type { SendingInvoice } from "./laneRows.ts"
import * as LaneRules from "./LaneRules.ts"
import * as liveTransitions from "./liveTransitions.ts"
import { unreadableSession } from "./StatusRules.ts"
import { credentialMissing } from "./waitReason.sql.ts"
import { waitingOrganizations, waits } from "./waiting.sql.ts"

/** How many show at once that their credential is missing: one of each organization. */
const maxTransitions = 1000

/**
 * Makes the effect that has one invoice of each organization show that its credential is missing: it was deleted, or is for another
 * environment. It returns how many were written.
 *
 * No lane has such invoices. As with a refused credential, one of the organization is `retrying` and shows the reason, until the
 * time to give up; the others stay queued. After a credential is stored, all of them are sent at once.
 */
export const makeShow = Effect.fnUntraced(function* (environmentId: string) {
  const sql = yield* SqlClient.SqlClient
  const notifier = yield* Notifier
  const statementTime = (yield* StatementTime)(sql)
  const steps = yield* TransitionSteps.make

  const lacks = sql`organizations.credential_environment IS DISTINCT FROM ${environmentId}`
  const shows = sql`status = 'retrying' AND failure->>'code' = ${credentialMissing.code}`

  // An invoice whose session could not be read is not given up: KSeF may have it.
  // One lookup in an index for each organization. The invoice that shows the reason is not due; where none does, it is the one that
  // did before, or the oldest.
  const select = Effect.flatMap(
    statementTime,
    (now) => sql<SendingInvoice & { readonly may_have_it: boolean }>`
      WITH RECURSIVE ${waitingOrganizations(sql)}, lacking AS MATERIALIZED (
        SELECT organization_id FROM waiting JOIN organizations ON organizations.id = waiting.organization_id AND ${lacks}
        WHERE NOT EXISTS (
          SELECT 1 FROM invoices
          WHERE organization_id = waiting.organization_id AND ${waits(sql)} AND invoices.due_at > ${now} AND ${shows}
        )
        LIMIT ${maxTransitions}::int
      )
      SELECT ${sql.literal(columnsOf("invoice"))}, sha256, seller_nip, issue_date, invoice_number, form_code, schema_version,
             EXISTS (
               SELECT 1 FROM national_submissions WHERE invoice_id = invoice.id AND code = ${unreadableSession}::int
             ) AS may_have_it
      FROM lacking CROSS JOIN LATERAL (
        (
          SELECT *, 1 AS choice FROM invoices
          WHERE organization_id = lacking.organization_id AND ${waits(sql)} AND due_at <= ${now} AND ${shows} LIMIT 1
        )
        UNION ALL
        (
          SELECT *, 2 AS choice FROM invoices
          WHERE organization_id = lacking.organization_id AND ${waits(sql)} AND due_at <= ${now}
          ORDER BY organization_id, due_at, id LIMIT 1
        )
        ORDER BY choice LIMIT 1
      ) AS invoice
      JOIN invoice_documents ON invoice_id = invoice.id
    `
  )

  return Effect.gen(function* () {
    const rows = yield* select
    if (rows.length === 0) return 0
    const now = yield* Clock.currentTimeMillis
    const random = yield* Random.next
    const pending = rows.map((row) => {
      const tried = { ...row, status: "submitting", attempt_count: row.attempt_count + 1 } as const
      return {
        ...liveTransitions.attemptFailed(tried, credentialMissing, now, {
          giveUpMs: row.may_have_it ? Infinity : LaneRules.giveUpMs,
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
    for (const { transition } of pending) {
      yield* Metric.update(EngineMetrics.invoiceTransitions.live(transition.status), 1)
    }
    if (pending.some(({ transition }) => transition.emits !== null)) {
      yield* notifier.wake("deliveries")
    }
    return written.length
  }).pipe(Effect.withSpan("MissingCredentials.show"))
})
