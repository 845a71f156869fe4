import { assert, describe, it } from "@effect/vitest"
import { Troubles } from "../../../src/invoices/ksef/Troubles.ts"

const trouble = (code: string, message = code, isRoutine = false) => ({
  reason: { code, message },
  until: 9,
  isRoutine
})

const lease = (context: string) => ({ context, fencingToken: 1 })

describe("Troubles", () => {
  it("has one record when the trouble of a taxpayer begins and one when it ends, with the count of failures", () => {
    const troubles = new Troubles()
    troubles.report(lease("1"), "send", trouble("gateway_unavailable"), 5)
    const record = { context: "1", code: "gateway_unavailable", since: 5 }
    assert.deepStrictEqual(troubles.takeChanges(), { begun: [{ ...record, failures: 1 }], ended: [] })
    troubles.report(lease("1"), "send", trouble("gateway_blocked"), 6)
    troubles.report(lease("1"), "verdicts", trouble("gateway_unavailable"), 7)
    assert.deepStrictEqual(troubles.takeChanges(), { begun: [], ended: [] })
    troubles.resolve("1", "send")
    assert.deepStrictEqual(troubles.takeChanges(), { begun: [], ended: [] }, "verdicts wait")
    troubles.resolve("1", "verdicts")
    assert.deepStrictEqual(troubles.takeChanges(), { begun: [], ended: [{ ...record, failures: 3 }] })
    assert.deepStrictEqual(troubles.takeChanges(), { begun: [], ended: [] })
  })

  it("has no record of a limit that was kept, or of a trouble that ended before it was looked at", () => {
    const troubles = new Troubles()
    troubles.report(lease("1"), "send", trouble("gateway_limit", "full", true), 5)
    troubles.report(lease("2"), "send", trouble("gateway_unavailable"), 5)
    troubles.resolve("2", "send")
    assert.deepStrictEqual(troubles.takeChanges(), { begun: [], ended: [] })
    const until = new Date(9).toISOString()
    assert.deepStrictEqual(troubles.reasons("1"), { send: { code: "gateway_limit", message: "full", until } })
    assert.isUndefined(troubles.reasons("2"))
  })

  it("ends with the lane in another process, without the line of an end", () => {
    const troubles = new Troubles()
    troubles.report(lease("1"), "send", trouble("gateway_unavailable"), 5)
    troubles.takeChanges()
    troubles.report(lease("2"), "send", trouble("gateway_unavailable"), 5)
    troubles.hold({ context: "1", fencingToken: 2 }, undefined, 6)
    assert.strictEqual(troubles.leases()[0]?.fencingToken, 2, "the same process has the lane again")
    assert.strictEqual(troubles.handOver("1")?.code, "gateway_unavailable")
    assert.isUndefined(troubles.handOver("2"), "nothing of it was logged")
    assert.deepStrictEqual(troubles.leases(), [])
    assert.deepStrictEqual(troubles.takeChanges(), { begun: [], ended: [] })
  })

  it("keeps the last message of a failure while nothing is called, and names what sending waits for before what verdicts do", () => {
    const troubles = new Troubles()
    troubles.report(lease("1"), "verdicts", trouble("gateway_unavailable"), 5)
    troubles.report(lease("1"), "send", trouble("gateway_blocked", "The login was blocked."), 5)
    troubles.report(lease("1"), "send", trouble("gateway_blocked", "This request was blocked."), 5)
    troubles.report(lease("1"), "send", trouble("gateway_blocked", "KSeF blocks.", true), 6)
    assert.strictEqual(troubles.reasons("1")?.send?.message, "This request was blocked.")
    troubles.resolve("1", "send")
    assert.strictEqual(troubles.reasons("1")?.verdicts?.code, "gateway_unavailable")
    troubles.resolveAll("1")
    assert.isUndefined(troubles.reasons("1"))
  })

  it("goes on with the reasons that the last holder has stored, while they last, and logs nothing of them", () => {
    const troubles = new Troubles()
    const stored = { send: { code: "gateway_blocked", message: "KSeF blocks.", until: new Date(60_000).toISOString() } }
    troubles.hold(lease("1"), stored, 50_000)
    troubles.hold(lease("2"), stored, 60_000)
    assert.deepStrictEqual(troubles.reasons("1"), stored)
    assert.isUndefined(troubles.reasons("2"))
    assert.deepStrictEqual(troubles.takeChanges(), { begun: [], ended: [] })
    troubles.resolve("1", "send")
    assert.isUndefined(troubles.reasons("1"))
  })
})
