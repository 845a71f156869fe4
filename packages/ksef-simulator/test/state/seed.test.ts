import { assert, describe, it } from "vitest"
import { startSimulator } from "../../src/startSimulator.ts"
import { Client } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { manualTime } from "../support/simulator.ts"

const drawn = async (seed: string): Promise<ReadonlyArray<string>> => {
  await using simulator = await startSimulator({ seed, processingMs: 0, now: manualTime().now })
  const client = await Client.login(simulator)
  const session = await client.open()
  const invoice = await client.submit(session, fa3({ seller: simulator.nip }))
  return [simulator.nip, simulator.token, client.login, session.reference, invoice.referenceNumber, invoice.ksefNumber!]
}

describe("a seed", () => {
  it("determines NIP, token, references and KSeF numbers", async () => {
    const [first, second, other] = [await drawn("a"), await drawn("a"), await drawn("b")]
    assert.deepStrictEqual(first, second)
    for (const [index, text] of first.entries()) assert.notStrictEqual(text, other[index])
  })
})
