import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as QueueGauges from "../../src/maintenance/QueueGauges.ts"
import * as fixtures from "../support/fixtures.ts"
import { databases } from "../support/TestDatabase.ts"

for (const database of databases) {
  layer(database.layer, { timeout: "120 seconds" })(`QueueGauges (${database.name})`, (it) => {
    it.effect("counts the rows of each queue, and returns the age of the oldest due row", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const nothing = yield* QueueGauges.read
        assert.deepStrictEqual(
          nothing.map(({ depth, oldest, queue }) => [queue, depth, oldest]),
          [
            ["invoices", 0, null],
            ["deliveries", 0, null],
            ["retries", 0, null]
          ]
        )
        const { id } = yield* fixtures.backlog(4)
        const other = yield* fixtures.endpoint(id)
        yield* fixtures.deliveries(id, other, 2, { dueAt: -500 })
        const [retry] = yield* fixtures.deliveries(id, other, 1, { dueAt: 9000 })
        yield* sql`
          UPDATE deliveries SET status = 'retrying', failure_status = 'retrying', is_due = false, next_retry_at = due_at WHERE id = ${retry!}
        `
        const invoiceId = yield* fixtures.invoice(id)
        yield* sql`UPDATE invoices SET due_at = ${new Date(70)} WHERE id = ${invoiceId}`
        yield* TestClock.adjust(1000)
        const rows = yield* QueueGauges.read
        assert.deepStrictEqual(
          rows.map(({ depth, oldest, queue }) => [queue, depth, oldest?.getTime()]),
          [
            ["invoices", 1, 70],
            ["deliveries", 6, -500],
            ["retries", 1, 9000]
          ]
        )
      })
    )
  })
}
