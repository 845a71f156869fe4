import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import type { Simulator } from "../../src/startSimulator.ts"
import { Client } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { start } from "../support/simulator.ts"

let folder = ""
let state = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "restart-"))
  state = join(folder, "state")
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Ends a simulator, and starts it anew at the same address. Connections that a client kept have to be seen as cut. */
const restart = async (simulator: Simulator): Promise<Simulator> => {
  await simulator.close()
  await sleep(100)
  return start({ state, port: Number(new URL(simulator.url).port) })
}

describe("a simulator with a state file", () => {
  it("continues its sessions and logins after a restart", async () => {
    const first = await start({ state })
    const client = await Client.login(first)
    const session = await client.open()
    const before = await client.submit(session, fa3())
    const upo = await client.call("GET", `/sessions/${session.reference}/invoices/${before.referenceNumber}/upo`)

    const second = await restart(first)
    assert.deepStrictEqual(second.ledger.accepted(), first.ledger.accepted())
    assert.strictEqual(second.token, first.token)
    assert.strictEqual(second.seed, first.seed)
    const again = await client.call("GET", `/sessions/${session.reference}/invoices/${before.referenceNumber}/upo`)
    assert.strictEqual(again.text, upo.text)
    const after = await client.submit(session, fa3({ number: "FV/2" }))
    assert.strictEqual(after.status.code, 200)
    assert.notStrictEqual(after.ksefNumber, before.ksefNumber)
    const duplicate = await client.submit(session, fa3())
    assert.strictEqual(duplicate.status.extensions?.["originalKsefNumber"], before.ksefNumber)
    assert.strictEqual(second.ledger.totalCalls, second.ledger.calls().length)
  })

  it("counts the calls before a restart in its windows", async () => {
    const first = await start({ state })
    const client = await Client.login(first)
    for (let call = 0; call < 5; call++) await client.call("GET", "/sessions?sessionType=Online")
    const second = await restart(first)
    const statuses: Array<number> = []
    for (let call = 0; call < 6; call++) {
      statuses.push((await client.call("GET", "/sessions?sessionType=Online")).status)
    }
    assert.include(statuses, 429)
    assert.isAtLeast(second.ledger.overLimit, 1)
  })

  it("judges what was received before a restart and not judged yet", async () => {
    const first = await start({ state })
    const client = await Client.login(first)
    const session = await client.open()
    const sent = await client.send(session, fa3())
    // The answer has left, and the verdict is a matter of milliseconds.
    await restart(first)
    const verdict = await client.verdict(session.reference, sent.json.referenceNumber)
    assert.strictEqual(verdict.status.code, 200)
  })

  it("ends its faults with the process, and releases what they delayed", async () => {
    const first = await start({ state })
    const client = await Client.login(first)
    const session = await client.open()
    first.faults.add({ do: "stuck-150" })
    const { referenceNumber } = (await client.send(session, fa3())).json
    await first.idle()
    const second = await restart(first)
    // Numbers of faults begin anew: this one has the number of the fault that ended.
    second.faults.add({ do: "stuck-150" })
    const { json } = await client.call("GET", `/sessions/${session.reference}/invoices/${referenceNumber}`)
    assert.strictEqual(json.status.code, 200)
  })

  it("keeps what /testdata and the clock changed", async () => {
    const first = await start({ state })
    const client = await Client.login(first)
    const contextIdentifier = { type: "Nip", value: first.nip }
    await client.call("POST", "/testdata/context/block", { body: { contextIdentifier } })
    first.clock.advance(3_600_000)
    const second = await restart(first)
    assert.closeTo(second.clock.now() - Date.now(), 3_600_000, 60_000)
    const other = new Client(second)
    await other.beginTokenLogin(second.token, second.nip)
    assert.strictEqual((await other.loginStatus()).code, 480)
  })
})
