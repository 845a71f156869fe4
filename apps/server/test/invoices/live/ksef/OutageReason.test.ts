import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect } from "effect"
import { OutageReason } from "../../../../src/invoices/live/ksef/OutageReason.ts"

describe("OutageReason", () => {
  it.effect("adds what KSeF reports to the invoices that were tried, once, and again only if that failed", () =>
    Effect.gen(function* () {
      const outage = new OutageReason()
      const told: Array<readonly [ids: ReadonlyArray<string>, sentence: string]> = []
      const explain = (isStored: boolean) => (ids: ReadonlyArray<string>, sentence: string) =>
        Effect.suspend(() => {
          told.push([ids, sentence])
          return isStored ? Effect.void : Effect.fail("no database")
        })
      outage.tried("inv_1" as Ids.InvoiceId)
      yield* outage.tell(explain(true))
      assert.deepStrictEqual(told, [], "not known yet")
      outage.report("MAINTENANCE")
      assert.strictEqual(yield* Effect.flip(outage.tell(explain(false))), "no database")
      yield* outage.tell(explain(true))
      yield* outage.tell(explain(true))
      const once = [["inv_1"], " KSeF reports MAINTENANCE."] as const
      assert.deepStrictEqual(told, [once, once])
    })
  )
})
