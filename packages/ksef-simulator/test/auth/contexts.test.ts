import { createPrivateKey, X509Certificate } from "node:crypto"
import { CertificateLink } from "@govoice/ksef/crypto"
import { ContextIdentifier, VerificationLink } from "@govoice/ksef/format"
import { LoginDocument, SigningCredential } from "@govoice/ksef/xades"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import type { IssuedCertificate } from "../../src/keys/Authority.ts"
import type { Simulator } from "../../src/startSimulator.ts"
import { Client, codes, fa3Form, faRrForm } from "../support/Client.ts"
import { fa3, faRr } from "../support/invoices.ts"
import { start } from "../support/simulator.ts"

const nip = "5265877635"
const unit = `${nip}-12346`
const foreign = `${nip}-DE123456789`

const soldTo = (country: string, number: string, changes: Parameters<typeof fa3>[0] = {}): string =>
  fa3(changes).replace("<NIP>5260250274</NIP>", `<KodUE>${country}</KodUE><NrVatUE>${number}</NrVatUE>`)

const beginWith = async (simulator: Simulator, issued: IssuedCertificate, value: string): Promise<Client> => {
  const credential = Result.getOrThrow(SigningCredential.read(issued, Date.now()))
  const client = new Client(simulator)
  const context = ContextIdentifier.ofValue(value)
  const answer = await client.beginCertificateLogin((challenge) =>
    LoginDocument.write({ challenge, context, signingTime: Date.now() - 60_000 }, credential)
  )
  assert.strictEqual(answer.status, 202, answer.text)
  return client
}

const byToken = (simulator: Simulator, context: string) =>
  Client.login(simulator, simulator.issueToken({ context }), context)

const byCertificate = async (simulator: Simulator, context: string): Promise<Client> => {
  const client = await beginWith(simulator, simulator.issueCertificate({ nip, context }), context)
  assert.deepInclude(await client.loginStatus(), { code: 200 })
  await client.redeem()
  return client
}

/** The code of the verdict about a document, and the UPO of an accepted one. */
const send = async (client: Client, document: string, form = fa3Form) => {
  const session = await client.open(form)
  const { referenceNumber, status } = await client.submit(session, document)
  const path = `/sessions/${session.reference}/invoices/${referenceNumber}/upo`
  return { code: status.code, upo: status.code === 200 ? (await client.call("GET", path)).text : "" }
}

describe("a login in the context of a unit", () => {
  it.each([
    ["a token", byToken],
    ["a certificate that was granted permissions", byCertificate]
  ])("succeeds with %s, and sends the invoices of its taxpayer alone", async (_, logIn) => {
    const client = await logIn(await start(), unit)
    const own = await send(client, fa3({ number: "1" }))
    assert.strictEqual(own.code, 200)
    assert.include(own.upo, `<IdKontekstu><IdWewnetrzny>${unit}</IdWewnetrzny></IdKontekstu>`)
    assert.strictEqual((await send(client, fa3({ number: "2", seller: "5260250274" }))).code, 410)
    assert.strictEqual((await send(client, faRr(), faRrForm)).code, 200)
  })

  it("fails with the token of the taxpayer, and one of the unit fails elsewhere", async () => {
    const simulator = await start()
    const token = simulator.issueToken({ context: unit })
    assert.include(token, `|internalId-${unit}|`)
    for (const [secret, context] of [
      [simulator.token, unit],
      [token, nip],
      [token, `${nip}-12353`],
      [token, foreign]
    ] as const) {
      const client = new Client(simulator)
      await client.beginTokenLogin(secret, context)
      assert.deepInclude(await client.loginStatus(), { code: 450 })
    }
  })

  it("fails with the certificate of the taxpayer without permissions there", async () => {
    const simulator = await start()
    const client = await beginWith(simulator, simulator.certificate, unit)
    assert.deepInclude(await client.loginStatus(), { code: 415 })
  })

  it("creates tokens, which are of the unit", async () => {
    const client = await byCertificate(await start(), unit)
    const body = { description: "A token of a unit", permissions: ["InvoiceWrite"] }
    const { referenceNumber } = (await client.call("POST", "/tokens", { body })).json
    const described = (await client.call("GET", `/tokens/${referenceNumber}`)).text
    assert.include(described, `"contextIdentifier":{"type":"InternalId","value":"${unit}"}`)
  })
})

describe("a login in the context of a taxpayer and an entity of the EU", () => {
  it("succeeds with a certificate by its fingerprint, and sends what the entity issues as the buyer", async () => {
    const client = await byCertificate(await start(), foreign)
    const own = await send(client, soldTo("DE", "123456789", { number: "1" }))
    assert.strictEqual(own.code, 200)
    assert.include(own.upo, `<IdKontekstu><IdZlozonyVatUE>${foreign}</IdZlozonyVatUE></IdKontekstu>`)
    for (const document of [
      fa3({ number: "2" }),
      soldTo("AT", "U12345678", { number: "3" }),
      soldTo("DE", "123456789", { number: "4", seller: "1111111111" })
    ]) {
      assert.strictEqual((await send(client, document)).code, 410)
    }
    assert.strictEqual((await send(client, faRr(), faRrForm)).code, 410)
  })

  it("fails with another certificate of the same subject, and creates no tokens", async () => {
    const simulator = await start()
    const client = await byCertificate(simulator, foreign)
    const other = await beginWith(simulator, simulator.certificate, foreign)
    assert.deepInclude(await other.loginStatus(), { code: 415 })
    const body = { description: "A token of an entity", permissions: ["InvoiceWrite"] }
    assert.deepStrictEqual(codes(await client.call("POST", "/tokens", { body })), [26002])
  })
})

describe("the contexts of one taxpayer", () => {
  it("have limits, blocks and sessions of their own", async () => {
    const simulator = await start()
    const ofTaxpayer = await Client.login(simulator)
    const ofUnit = await byToken(simulator, unit)
    const again = await byToken(simulator, unit)
    const list = async (client: Client) => (await client.call("GET", "/sessions?sessionType=Online")).status
    const statuses: Array<number> = []
    for (let call = 0; call < 5; call++) statuses.push(await list(ofTaxpayer))
    assert.deepStrictEqual(statuses, [200, 200, 200, 200, 200])
    assert.strictEqual(await list(ofTaxpayer), 429)
    for (const client of [ofUnit, again, ofUnit, again, ofUnit]) assert.strictEqual(await list(client), 200)
    assert.strictEqual(await list(again), 429)

    const session = await ofUnit.open()
    assert.deepStrictEqual(codes(await ofTaxpayer.send(session, fa3())), [21173])
    simulator.faults.add({ do: "block-403", ms: 60_000, context: unit })
    assert.strictEqual((await ofUnit.call("GET", "/rate-limits")).status, 403)
    assert.strictEqual((await ofTaxpayer.call("GET", "/rate-limits")).status, 200)
  })

  it.each([nip, unit, foreign])("have codes KOD II that the page confirms: %s", async (value) => {
    const simulator = await start()
    const { certificate, privateKey } = simulator.issueCertificate({ nip, kind: "offline" })
    const link = CertificateLink.make(
      {
        origin: VerificationLink.originOf(simulator.url),
        context: ContextIdentifier.ofValue(value),
        sellerNip: nip,
        serialNumber: new X509Certificate(certificate).serialNumber,
        documentHash: Buffer.alloc(32, 7)
      },
      createPrivateKey(privateKey)
    )
    const textOf = async (url: string) => (await fetch(url)).text()
    const { type } = ContextIdentifier.ofValue(value)
    assert.include(link, `/certificate/${type}/${value}/${nip}/`)
    const page = await textOf(link)
    assert.include(page, "The issuer is confirmed")
    assert.include(page, `${type} ${value}`)
    assert.include(await textOf(link.replace(`/${type}/`, "/PeppolId/")), "The context is not of this type.")
  })
})
