/** The time of an invoice, whatever the clock of the process says, and when lists may show it. */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as DatabaseClock from "../../src/database/DatabaseClock.ts"
import * as SettledInvoices from "../../src/invoices/SettledInvoices.ts"
import * as SubmitInvoice from "../../src/invoices/SubmitInvoice.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { liveDatabase as database } from "../support/TestDatabase.ts"

// How far the clock of the process is ahead.
let ahead = 0
const clock = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (clock) => DatabaseClock.shifted(clock, () => ahead))
)
const submissions = SubmitInvoice.layer.pipe(Layer.provide(TestSettings.layer()), Layer.provide(clock))

layer(Layer.provideMerge(submissions, database.layer), { timeout: "120 seconds", excludeTestServices: true })(
  `SettledInvoices (${database.name})`,
  (it) => {
    const databaseTime = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ readonly now: number }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`
    ).pipe(Effect.map(([row]) => row!.now))

    it.effect.each([
      ["behind", -60_000],
      ["ahead, as after a fail-over to a machine whose clock is behind,", 300_000]
    ] as const)(
      "an invoice of a process whose clock is %s gets the time of the database, and is stored once",
      ([, ms]) =>
        Effect.gen(function* () {
          const { submit } = yield* SubmitInvoice.SubmitInvoice
          const sql = yield* SqlClient.SqlClient
          const organizationId = yield* fixtures.organization
          yield* fixtures.endpoint(organizationId)
          ahead = ms
          const before = yield* databaseTime
          const all = yield* Effect.forEach(
            Array.from({ length: 20 }, (_, n) => `key ${n % 10}`),
            (idempotencyKey) => submit(fixtures.submission({ organizationId, idempotencyKey })),
            { concurrency: "unbounded" }
          )
          const after = yield* databaseTime
          ahead = 0
          const rows = yield* sql<{ readonly id: string; readonly at: number; readonly body: string }>`
            SELECT invoices.id, (extract(epoch FROM invoices.created_at) * 1000)::float8 AS at, idempotency_records.body
            FROM invoices JOIN idempotency_records ON invoice_id = invoices.id
            WHERE invoices.organization_id = ${organizationId}
          `
          assert.lengthOf(rows, 10)
          for (const { at, body, id } of rows) {
            assert.isAtLeast(at, Math.floor(before))
            assert.isAtMost(at, after)
            assert.deepInclude(JSON.parse(body), { id, created_at: new Date(at).toISOString() })
          }
          assert.sameMembers(
            [...new Set(all.map(({ invoiceId }) => invoiceId))],
            rows.map(({ id }) => id)
          )
          assert.lengthOf(
            all.filter(({ replayed }) => replayed),
            10
          )
        })
    )

    it.effect("the settled time contains what was stored before", () =>
      Effect.gen(function* () {
        const { submit } = yield* SubmitInvoice.SubmitInvoice
        const organizationId = yield* fixtures.organization
        const settledTime = yield* SettledInvoices.makeTime
        for (let n = 0; n < 5; n++) {
          const { body } = yield* submit(fixtures.submission({ organizationId, idempotencyKey: `settled ${n}` }))
          const { created_at: createdAt } = JSON.parse(body) as { readonly created_at: string }
          const settled = yield* settledTime
          assert.isAbove(Math.floor(settled), Date.parse(createdAt))
          assert.isBelow(settled, yield* databaseTime)
        }
      })
    )
  }
)
