import { assert, describe, it } from "vitest"
import { Client } from "../support/Client.ts"
import { manualTime, start } from "../support/simulator.ts"

describe("limits of calls", () => {
  it("refuse the eleventh list of a minute with 429, whose Retry-After grows while it is not obeyed", async () => {
    const time = manualTime()
    const simulator = await start({ now: time.now })
    const client = await Client.login(simulator)
    const list = () => client.call("GET", "/sessions?sessionType=Online")
    for (let call = 0; call < 10; call++) {
      assert.strictEqual((await list()).status, 200, String(call))
      time.move(1000)
    }
    const waits: Array<number> = []
    for (let call = 0; call < 4; call++) waits.push(Number((await list()).headers.get("retry-after")))
    assert.strictEqual(waits[0], 50)
    assert.deepStrictEqual(
      waits,
      waits.toSorted((left, right) => left - right)
    )
    assert.isAbove(waits[3]!, waits[0]!)
    assert.strictEqual(simulator.ledger.overLimit, 4)
    time.move(waits[3]! * 1000)
    assert.strictEqual((await list()).status, 200)
    assert.strictEqual(simulator.ledger.overLimit, 4)
  })

  it("count each context alone, and admit other groups during a block", async () => {
    const time = manualTime()
    const simulator = await start({ now: time.now })
    const client = await Client.login(simulator)
    const other = await Client.login(simulator, simulator.issueToken({ context: "5260250274" }), "5260250274")
    const list = (who: Client) => who.call("GET", "/sessions?sessionType=Online")
    const statuses: Array<number> = []
    for (let call = 0; call < 6; call++) statuses.push((await list(client)).status)
    assert.deepStrictEqual(statuses, [200, 200, 200, 200, 200, 429])
    assert.strictEqual((await list(other)).status, 200)
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
  })

  it("are changed for a context by /testdata/rate-limits, returned by /rate-limits, and reset by DELETE", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const published = (await client.call("GET", "/rate-limits")).text
    const groups = JSON.parse(published) as Record<string, { perSecond: number; perMinute: number; perHour: number }>
    const rateLimits = { ...groups, sessionList: { perSecond: 1, perMinute: 1, perHour: 1 } }
    assert.strictEqual((await client.call("POST", "/testdata/rate-limits", { body: { rateLimits } })).status, 200)
    assert.include(
      (await client.call("GET", "/rate-limits")).text,
      '"sessionList":{"perSecond":1,"perMinute":1,"perHour":1}'
    )
    const list = () => client.call("GET", "/sessions?sessionType=Online")
    assert.deepStrictEqual([(await list()).status, (await list()).status], [200, 429])
    assert.strictEqual((await client.call("DELETE", "/testdata/rate-limits")).status, 200)
    assert.strictEqual((await client.call("GET", "/rate-limits")).text, published)
  })

  it("are switched off by an option", async () => {
    const simulator = await start({ limits: "off" })
    const client = await Client.login(simulator)
    for (let call = 0; call < 40; call++)
      assert.strictEqual((await client.call("GET", "/sessions?sessionType=Online")).status, 200)
    assert.strictEqual(simulator.ledger.overLimit, 0)
  })
})
