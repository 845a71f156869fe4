import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect } from "effect"
import { OutageReason, TokenLoginSunset } from "../../../src/invoices/ksef/LaneProcess.ts"

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

const minute = 60_000
const haveEnded = (...refusals: ReadonlyArray<readonly [organization: string, at: number]>) => {
  const logins = new TokenLoginSunset()
  for (const [organization, at] of refusals) logins.refused(organization, at)
  return logins.hasEnded
}

describe("logins by token", () => {
  it("have ended when three organizations are refused within ten minutes", () => {
    assert.isFalse(haveEnded(["a", 0], ["b", 1]))
    assert.isFalse(haveEnded(["a", 0], ["b", 1], ["b", 2], ["a", 3]))
    assert.isTrue(haveEnded(["a", 0], ["b", 1], ["c", 10 * minute - 1]))
    assert.isFalse(haveEnded(["a", 0], ["b", 1], ["c", 10 * minute]))
  })

  it("have not ended when one is accepted between them", () => {
    const logins = new TokenLoginSunset()
    logins.refused("a", 0)
    logins.refused("b", 0)
    logins.succeeded()
    logins.refused("c", 0)
    assert.isFalse(logins.hasEnded)
    for (const organization of ["a", "b"]) logins.refused(organization, 0)
    assert.isTrue(logins.hasEnded)
    logins.succeeded()
    assert.isFalse(logins.hasEnded)
  })

  it("are logged as ended once, and again only after one was accepted", () => {
    const logins = new TokenLoginSunset()
    assert.deepStrictEqual([logins.shouldLog(), logins.shouldLog()], [true, false])
    logins.succeeded()
    assert.isTrue(logins.shouldLog())
  })
})
