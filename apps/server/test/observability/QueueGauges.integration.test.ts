import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as QueueGauges from "../../src/observability/QueueGauges.ts"
import * as Plant from "../engine/support/Plant.ts"
import { databases } from "../support/TestDatabase.ts"

for (const database of databases) {
  layer(database.layer, { timeout: "60 seconds" })(`QueueGauges (${database.name})`, (it) => {
    it.effect("counts what each queue holds, and finds what has been due for longest", () =>
      Effect.gen(function* () {
        yield* Plant.clear
        const sql = yield* SqlClient.SqlClient
        const nothing = yield* QueueGauges.read
        assert.deepStrictEqual(
          nothing.map(({ depth, oldest, queue }) => [queue, depth, oldest]),
          [
            ["invoices", 0, null],
            ["deliveries", 0, null],
            ["waiting", 0, null]
          ]
        )
        const { id } = yield* Plant.backlog(4)
        const other = yield* Plant.endpoint(id)
        yield* Plant.deliveries(id, other, 2, { dueAt: -500 })
        const [retry] = yield* Plant.deliveries(id, other, 1, { dueAt: 9000 })
        yield* sql`
          UPDATE deliveries SET status = 'retrying', trouble = 'retrying', ready = false, next_retry_at = due_at WHERE id = ${retry!}
        `
        const invoiceId = yield* Plant.invoice(id)
        yield* sql`UPDATE invoices SET due_at = ${new Date(70)} WHERE id = ${invoiceId}`
        yield* TestClock.adjust(1000)
        const rows = yield* QueueGauges.read
        assert.deepStrictEqual(
          rows.map(({ depth, oldest, queue }) => [queue, depth, oldest?.getTime()]),
          [
            ["invoices", 1, 70],
            ["deliveries", 6, -500],
            ["waiting", 1, 9000]
          ]
        )
      })
    )
  })
}
