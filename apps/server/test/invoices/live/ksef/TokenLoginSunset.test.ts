import { assert, describe, it } from "@effect/vitest"
import {
  hasEnded,
  type Refusals,
  refused,
  TokenLoginSunset
} from "../../../../src/invoices/live/ksef/TokenLoginSunset.ts"

const minute = 60_000
const after = (...refusals: ReadonlyArray<readonly [organization: string, at: number]>) =>
  refusals.reduce<Refusals>((all, [organization, at]) => refused(all, organization, at), new Map())

describe("logins by token", () => {
  it("have ended when three organizations are refused within ten minutes", () => {
    assert.isFalse(hasEnded(after(["a", 0], ["b", 1])))
    assert.isFalse(hasEnded(after(["a", 0], ["b", 1], ["b", 2], ["a", 3])))
    assert.isTrue(hasEnded(after(["a", 0], ["b", 1], ["c", 10 * minute - 1])))
    assert.isFalse(hasEnded(after(["a", 0], ["b", 1], ["c", 10 * minute])))
  })

  it("have not ended when one is accepted between them", () => {
    const logins = new TokenLoginSunset()
    logins.refused("a", 0)
    logins.refused("b", 0)
    logins.succeeded()
    assert.isFalse(logins.refused("c", 0))
  })

  it("are logged as ended once, and again only after one was accepted", () => {
    const logins = new TokenLoginSunset()
    assert.deepStrictEqual([logins.shouldLog(), logins.shouldLog()], [true, false])
    logins.succeeded()
    assert.isTrue(logins.shouldLog())
  })
})
