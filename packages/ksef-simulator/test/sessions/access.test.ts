/**
 * Access to sessions: contexts, and persons of one context.
 */
import { assert, describe, it } from "vitest"
import { Client, codes } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { start } from "../support/simulator.ts"

const scene = async () => {
  const simulator = await start({ limits: "off" })
  const client = await Client.login(simulator)
  const session = await client.open()
  const invoice = await client.submit(session, fa3())
  return { simulator, client, session, invoice }
}

const readsOf = (session: string, invoice: string, ksefNumber: string): ReadonlyArray<string> => [
  `/sessions/${session}`,
  `/sessions/${session}/invoices`,
  `/sessions/${session}/invoices/failed`,
  `/sessions/${session}/invoices/${invoice}`,
  `/sessions/${session}/invoices/${invoice}/upo`,
  `/sessions/${session}/invoices/ksef/${ksefNumber}/upo`,
  `/sessions/${session}/upo/20261122-EU-0000000000-0000000000-00`
]

describe("a session", () => {
  it("of another context is not found, by any operation", async () => {
    const { invoice, session, simulator } = await scene()
    const nip = "5260250274"
    const stranger = await Client.login(simulator, simulator.issueToken({ context: nip }), nip)
    for (const path of readsOf(session.reference, invoice.referenceNumber, invoice.ksefNumber!)) {
      assert.deepStrictEqual(codes(await stranger.call("GET", path)), [21173], path)
    }
    assert.deepStrictEqual(codes(await stranger.send(session, fa3({ number: "2", seller: nip }))), [21173])
    assert.deepStrictEqual(codes(await stranger.close(session)), [21173])
    assert.isEmpty((await stranger.call("GET", "/sessions?sessionType=Online")).json.sessions)
    assert.lengthOf(simulator.ledger.accepted(), 1)
  })

  it("of another person of the context is a 403, unless for a holder of Introspection or the owner", async () => {
    const { client, invoice, session, simulator } = await scene()
    const { nip } = simulator
    const author = { type: "Pesel", value: "44051401458" } as const
    const login = (permissions: ReadonlyArray<"InvoiceWrite" | "Introspection">, who = author) =>
      Client.login(simulator, simulator.issueToken({ context: nip, permissions, author: who }))
    const paths = readsOf(session.reference, invoice.referenceNumber, invoice.ksefNumber!)
    const person = await login(["InvoiceWrite"])
    for (const path of paths) {
      const answer = await person.call("GET", path)
      assert.deepStrictEqual([answer.status, answer.json.reasonCode], [403, "insufficient-resource-access"], path)
    }
    const auditor = await login(["Introspection"])
    for (const path of paths.slice(0, -1)) assert.strictEqual((await auditor.call("GET", path)).status, 200, path)
    const own = await person.open()
    await person.submit(own, fa3({ number: "2" }))
    assert.strictEqual((await person.call("GET", `/sessions/${own.reference}`)).status, 200)
    assert.strictEqual((await client.call("GET", `/sessions/${own.reference}`)).status, 200)
    const listed = async (who: Client) =>
      (await who.call("GET", "/sessions?sessionType=Online")).json.sessions.map(
        ({ referenceNumber }) => referenceNumber
      )
    assert.deepStrictEqual(await listed(person), [own.reference])
    assert.sameMembers(await listed(auditor), [session.reference, own.reference])
  })

  it("accepts no document from a token without the permission to send", async () => {
    const { session, simulator } = await scene()
    const reader = await Client.login(
      simulator,
      simulator.issueToken({ context: simulator.nip, permissions: ["InvoiceRead"] })
    )
    const answer = await reader.send(session, fa3({ number: "2" }))
    assert.deepStrictEqual([answer.status, answer.json.reasonCode], [403, "missing-permissions"])
  })

  it("has documents that their seller and buyer can download a second after acceptance, and nobody else", async () => {
    const { client, invoice, simulator } = await scene()
    const path = `/invoices/ksef/${invoice.ksefNumber}`
    assert.deepStrictEqual(codes(await client.call("GET", path)), [21165])
    simulator.clock.advance(1000)
    const seller = await client.call("GET", path)
    assert.deepStrictEqual([seller.status, seller.text], [200, fa3()])
    const as = async (nip: string) => Client.login(simulator, simulator.issueToken({ context: nip }), nip)
    assert.strictEqual((await (await as("5260250274")).call("GET", path)).text, fa3())
    assert.deepStrictEqual(codes(await (await as("1111111111")).call("GET", path)), [21164])
  })

  it("has links to receipts that need no bearer, are refused with one, and cannot be changed", async () => {
    const { invoice, simulator } = await scene()
    const url = invoice.upoDownloadUrl!
    assert.strictEqual((await fetch(url)).status, 200)
    assert.strictEqual((await fetch(url, { headers: { authorization: "Bearer x" } })).status, 401)
    assert.strictEqual((await fetch(url.replace(/ms=\d/, "ms=9"))).status, 403)
    assert.strictEqual((await fetch(url.replace(/sig=.{4}/, "sig=AAAA"))).status, 403)
    assert.strictEqual((await fetch(url, { method: "PUT", body: "x" })).status, 405)
    simulator.clock.advance(3 * 86_400_000)
    assert.strictEqual((await fetch(url)).status, 403)
  })
})
