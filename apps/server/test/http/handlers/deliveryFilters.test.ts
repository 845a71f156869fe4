/** Cursors of deliveries between servers of two versions. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Cursors from "../../../src/crypto/Cursors.ts"
import { type DeliveryQuery, filterNames } from "../../../src/http/handlers/deliveryFilters.ts"
import * as Pagination from "../../../src/http/handlers/Pagination.ts"

const ids = { invoice: "inv_0a", event: "evt_0a", last: "wd_0a" }

const read = (query: DeliveryQuery, cursor: string) =>
  Effect.gen(function* () {
    const cursors = yield* Cursors.Cursors
    const name = ["deliveries", "we_0a", ...filterNames(query)]
    let after: string | undefined
    yield* Pagination.serve(cursors, name, { cursor }, (page) =>
      Effect.sync(() => {
        after = page.after
        return { records: [], hasMore: false }
      })
    )
    return after
  })

const make = (...filters: ReadonlyArray<string>) =>
  Effect.map(Cursors.Cursors, ({ make }) => make(["deliveries", "we_0a", ...filters], ids.last))

const provided = Effect.provide(Cursors.layer("a secret of the tests"))

describe("a cursor of deliveries", () => {
  it.effect("from a server that does not know invoice_id is valid", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* read({}, yield* make("", "", "", "", "")), ids.last)
      const time = "2026-11-01T00:00:00Z"
      const query = { status: "failed", event_id: ids.event, created_after: time } as const
      assert.strictEqual(yield* read(query, yield* make("failed", "", ids.event, time, "")), ids.last)
    }).pipe(provided)
  )

  it.effect("is that of one invoice, or of all", () =>
    Effect.gen(function* () {
      const [all, one] = [yield* make("", "", "", "", ""), yield* make("", "", "", "", "", ids.invoice)]
      assert.strictEqual(yield* read({ invoice_id: ids.invoice }, one), ids.last)
      for (const [query, cursor] of [
        [{ invoice_id: ids.invoice }, all],
        [{ invoice_id: "inv_0b" }, one],
        [{}, one]
      ] as const) {
        assert.strictEqual((yield* Effect.flip(read(query, cursor))).error.code, "invalid_parameter")
      }
    }).pipe(provided)
  )
})
