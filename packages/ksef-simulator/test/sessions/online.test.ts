import { randomBytes } from "node:crypto"
import { KsefNumber } from "@govoice/ksef/format"
import { assert, describe, it } from "vitest"
import { Client, codes, encrypt, fa3Form, faRrForm, sha256 } from "../support/Client.ts"
import { fa3, faRr } from "../support/invoices.ts"
import { manualTime, start } from "../support/simulator.ts"

const hour = 3_600_000
const noon = Date.UTC(2026, 10, 22, 10)

describe("an interactive session", () => {
  it("accepts a document, gives it a number, and returns its receipt", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open()
    const document = fa3()
    const invoice = await client.submit(session, document)
    assert.strictEqual(invoice.status.description, "Sukces")
    assert.strictEqual(invoice.invoiceHash, sha256(document))
    assert.strictEqual(invoice.invoiceNumber, "FV/1")
    assert.isTrue(KsefNumber.isValid(invoice.ksefNumber ?? ""))
    assert.deepInclude(simulator.ledger.accepted()[0], { ksefNumber: invoice.ksefNumber!, sha256: sha256(document) })
    assert.strictEqual((await client.close(session)).status, 204)
    const status = await client.sessionStatus(session.reference)
    assert.deepInclude(status, { invoiceCount: 1, successfulInvoiceCount: 1, failedInvoiceCount: null })
    assert.strictEqual(status.status.code, 200)
    assert.lengthOf(status.upo?.pages ?? [], 1)
  })

  it("is open, closed while documents are pending, and done", async () => {
    const time = manualTime(noon)
    const simulator = await start({ now: time.now, processingMs: 1000 })
    const client = new Client(simulator)
    await client.beginTokenLogin(simulator.token, simulator.nip)
    time.move(1000)
    await client.redeem()
    const session = await client.open()
    const code = async () => (await client.call("GET", `/sessions/${session.reference}`)).json.status.code
    const { json } = await client.send(session, fa3())
    const invoiceCode = async () =>
      (await client.call("GET", `/sessions/${session.reference}/invoices/${json.referenceNumber}`)).json.status.code
    assert.deepStrictEqual([await code(), await invoiceCode()], [100, 100])
    await simulator.idle()
    time.move(500)
    assert.strictEqual(await invoiceCode(), 150)
    await client.close(session)
    assert.strictEqual(await code(), 170)
    time.move(500)
    assert.deepStrictEqual([await code(), await invoiceCode()], [200, 200])
  })

  it("ends as 440 without a document, and as 445 with refused ones only", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const empty = await client.open()
    await client.close(empty)
    const cancelled = (await client.sessionStatus(empty.reference)).status
    assert.deepStrictEqual([cancelled.code, cancelled.details], [440, ["Nie przesłano faktur"]])
    const refused = await client.open()
    await client.submit(refused, "<x/>")
    await client.close(refused)
    assert.strictEqual((await client.sessionStatus(refused.reference)).status.code, 445)
  })

  it("closes by itself after twelve hours", async () => {
    const time = manualTime(noon)
    const simulator = await start({ now: time.now })
    const client = await Client.login(simulator)
    const session = await client.open()
    await client.submit(session, fa3())
    time.move(12 * hour)
    const later = await Client.login(simulator)
    assert.strictEqual((await later.sessionStatus(session.reference)).status.code, 200)
    assert.deepStrictEqual(codes(await later.send(session, fa3({ number: "2" }))), [21180])
    assert.deepStrictEqual(codes(await later.close(session)), [21180])
  })

  it("accepts nothing after its close, and can be closed once", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open()
    await client.submit(session, fa3())
    await client.close(session)
    const refused = await client.send(session, fa3({ number: "2" }))
    assert.strictEqual(
      refused.json.exception?.exceptionDetailList[0]?.details[0],
      "Status sesji 200 uniemożliwia wysyłkę faktur."
    )
    assert.deepStrictEqual(codes(await client.close(session)), [21180])
  })

  it("opens with a key that cannot be decrypted, and ends as 415", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const encryption = {
      encryptedSymmetricKey: randomBytes(256).toString("base64"),
      initializationVector: randomBytes(16).toString("base64")
    }
    const opened = await client.call("POST", "/sessions/online", { body: { formCode: fa3Form, encryption } })
    assert.strictEqual(opened.status, 201)
    const session = { reference: opened.json.referenceNumber, key: randomBytes(32), vector: randomBytes(16) }
    assert.strictEqual((await client.sessionStatus(session.reference)).status.code, 415)
    const refused = await client.send(session, fa3())
    assert.strictEqual(
      refused.json.exception?.exceptionDetailList[0]?.details[0],
      "Status sesji 415 uniemożliwia wysyłkę faktur."
    )
  })

  it.each([
    ["a form that it does not know", { formCode: { ...fa3Form, systemCode: "FA (9)" } }, 21405],
    ["a vector of 12 bytes", { initializationVector: randomBytes(12).toString("base64") }, 21405],
    ["an unknown key id", { publicKeyId: Buffer.alloc(32).toString("base64") }, 21470]
  ])("is not opened with %s", async (_, changes, code) => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const { body } = await client.encryption()
    const { formCode = fa3Form, ...encryption } = changes as { readonly formCode?: object }
    const answer = await client.call("POST", "/sessions/online", {
      body: { formCode, encryption: { ...body, ...encryption } }
    })
    assert.deepStrictEqual(codes(answer), [code])
  })

  it("needs the permission to send, and names the missing one", async () => {
    const simulator = await start()
    const token = simulator.issueToken({ context: simulator.nip, permissions: ["InvoiceRead"] })
    const client = await Client.login(simulator, token)
    const { body } = await client.encryption()
    const answer = await client.call("POST", "/sessions/online", { body: { formCode: fa3Form, encryption: body } })
    assert.strictEqual(answer.status, 403)
    assert.strictEqual(answer.json.reasonCode, "missing-permissions")
    assert.deepStrictEqual(answer.json.security, {
      requiredAnyOfPermissions: ["InvoiceWrite", "PefInvoiceWrite", "EnforcementOperations"],
      presentPermissions: ["InvoiceRead"]
    })
  })
})

describe("a document that is sent", () => {
  it.each([
    ["another size of the encrypted bytes", { encryptedInvoiceSize: 1 }, 21402],
    ["another hash of the encrypted bytes", { encryptedInvoiceHash: sha256("x") }, 21403],
    ["a hash that is none", { invoiceHash: "x" }, 21405],
    ["a size of 0", { invoiceSize: 0 }, 21405],
    ["content that is no Base64", { encryptedInvoiceContent: "?" }, 21405]
  ])("with %s is refused at once", async (_, changes, code) => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open()
    assert.deepStrictEqual(codes(await client.send(session, fa3(), changes)), [code])
    assert.deepStrictEqual(simulator.ledger.accepted(), [])
  })

  it.each([
    ["another size of the document", { invoiceSize: 1 }, 430],
    ["another hash of the document", { invoiceHash: sha256("x") }, 430]
  ])("with %s ends as 430", async (_, changes, code) => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open()
    assert.strictEqual((await client.submit(session, fa3(), changes)).status.code, code)
  })

  it("encrypted with another key ends as 435, with the vector in front as 430", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open()
    const encryptedAs = (bytes: Buffer) => ({
      encryptedInvoiceHash: sha256(bytes),
      encryptedInvoiceSize: bytes.length,
      encryptedInvoiceContent: bytes.toString("base64")
    })
    const other = encrypt({ key: Buffer.alloc(32, 7), vector: session.vector }, Buffer.from(fa3()))
    // Padding that is right by chance is possible, once in 256.
    assert.include([435, 430], (await client.submit(session, fa3(), encryptedAs(other))).status.code)
    const prefixed = Buffer.concat([session.vector, encrypt(session, Buffer.from(fa3()))])
    assert.strictEqual((await client.submit(session, fa3(), encryptedAs(prefixed))).status.code, 430)
  })

  it.each([
    ["is not well-formed", `${fa3()}<`, /Nieprawidłowy XML/],
    ["departs from the schema", fa3().replace("<P_15>123.00</P_15>", ""), /Element 'Adnotacje'.*\(wiersz 2\)/],
    ["has another root", "<Inna/>", /Inna/],
    ["declares another encoding", fa3().replace("UTF-8", "ISO-8859-2"), /ISO-8859-2/],
    ["has a processing instruction", fa3().replace("<Faktura", "<?x y?><Faktura"), /instrukcje przetwarzania/],
    ["has a document type", fa3().replace("<Faktura", "<!DOCTYPE Faktura []><Faktura"), /DOCTYPE/],
    ["has discouraged characters", fa3({ filler: "a\u0080b" }), /niezalecane znaki/],
    ["is dated tomorrow", fa3({ issueDate: "2026-11-23" }), /2026-11-23 jest późniejsza/]
  ])("that %s ends as 450", async (_, document, detail) => {
    const simulator = await start({ now: manualTime(noon).now })
    const client = await Client.login(simulator)
    const { status } = await client.submit(await client.open(), document)
    assert.strictEqual(status.code, 450)
    assert.match(status.details?.join(" ") ?? "", detail)
  })

  it("that begins with a byte order mark ends as 430, and says what to do", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const { status } = await client.submit(await client.open(), `\uFEFF${fa3()}`)
    assert.strictEqual(status.code, 430)
    assert.match(status.details?.join(" ") ?? "", /BOM.*bez/)
  })

  it("that is no UTF-8 ends as 450", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const bytes = Buffer.from(fa3({ filler: "#" }))
    bytes[bytes.indexOf("#")] = 0xff
    assert.strictEqual((await client.submit(await client.open(), bytes)).status.code, 450)
  })

  it("is dated by the day in Poland: after 23:00 UTC in winter, it is the next day", async () => {
    const simulator = await start({ now: manualTime(Date.UTC(2026, 10, 22, 23, 30)).now })
    const client = await Client.login(simulator)
    const session = await client.open()
    const invoice = await client.submit(session, fa3({ issueDate: "2026-11-23" }))
    assert.strictEqual(invoice.status.code, 200)
    assert.strictEqual(invoice.invoicingMode, "Online")
    assert.include(invoice.ksefNumber ?? "", "-20261123-")
  })

  it("of an earlier day is marked Offline, as is one that says it is offline", async () => {
    const simulator = await start({ now: manualTime(noon).now })
    const client = await Client.login(simulator)
    const session = await client.open()
    const mode = async (document: string, changes = {}) =>
      (await client.submit(session, document, changes)).invoicingMode
    assert.strictEqual(await mode(fa3({ number: "1", issueDate: "2026-11-22" })), "Online")
    assert.strictEqual(await mode(fa3({ number: "2", issueDate: "2026-11-21" })), "Offline")
    assert.strictEqual(await mode(fa3({ number: "3", issueDate: "2026-11-22" }), { offlineMode: true }), "Offline")
  })

  it("over a million bytes ends as 430, up to three million with an attachment", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open()
    // Lines of the largest text that the schema allows.
    const long = (bytes: number, document: string) => {
      const line = document.slice(document.indexOf("<FaWiersz>"), document.indexOf("</Fa>"))
      const filled = line.replace("Usługa testowa", "x".repeat(500))
      return document.replace(line, filled.repeat(Math.ceil(bytes / filled.length)))
    }
    assert.strictEqual((await client.submit(session, long(990_000, fa3({ number: "1" })))).status.code, 200)
    assert.strictEqual((await client.submit(session, long(1_001_000, fa3({ number: "2" })))).status.code, 430)
    assert.strictEqual((await client.submit(session, Buffer.alloc(3_000_001, 32))).status.code, 430)
  })

  it("with an attachment ends as 415 in an interactive session", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    await client.call("POST", "/testdata/attachment", { body: { nip: simulator.nip } })
    const { status } = await client.submit(await client.open(), fa3({ attachment: true }))
    assert.strictEqual(status.code, 415)
  })

  it("of another seller ends as 410", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const { status } = await client.submit(await client.open(), fa3({ seller: "5260250274" }))
    assert.deepStrictEqual([status.code, status.details], [410, ["Brak uprawnienia fakturowego"]])
  })

  it("of a seller that granted its buyer self-billing is accepted from that buyer, and of no other seller", async () => {
    const simulator = await start()
    const seller = "5260250274"
    const grantor = await Client.login(simulator, simulator.issueToken({ context: seller }), seller)
    const buyer = await Client.login(simulator)
    const session = await buyer.open()
    const billed = (number: string, of = seller, to = simulator.nip) =>
      buyer.submit(session, fa3({ number, seller: of, buyer: to }))
    assert.strictEqual((await billed("1")).status.code, 410)
    const granted = await grantor.call("POST", "/permissions/authorizations/grants", {
      body: {
        subjectIdentifier: { type: "Nip", value: simulator.nip },
        permission: "SelfInvoicing",
        description: "Samofakturowanie",
        subjectDetails: { fullName: "Nabywca Testowy" }
      }
    })
    assert.strictEqual(granted.status, 202, granted.text)
    const path = `/permissions/operations/${granted.json.referenceNumber}`
    assert.strictEqual((await grantor.call("GET", path)).json.status.code, 200)
    assert.strictEqual((await buyer.call("GET", path)).status, 400)
    assert.strictEqual((await billed("2")).status.code, 200)
    assert.strictEqual((await billed("3", "1111111111")).status.code, 410)
    assert.strictEqual((await billed("4", seller, "1111111111")).status.code, 410)

    const query = async (client: Client, body: object) => {
      const { text } = await client.call("POST", "/permissions/query/authorizations/grants", { body })
      return (JSON.parse(text) as { readonly authorizationGrants: ReadonlyArray<Readonly<Record<string, unknown>>> })
        .authorizationGrants
    }
    const [grant] = await query(grantor, { queryType: "Granted" })
    assert.deepInclude(grant, {
      authorizedEntityIdentifier: { type: "Nip", value: simulator.nip },
      authorizingEntityIdentifier: { type: "Nip", value: seller },
      authorizationScope: "SelfInvoicing",
      description: "Samofakturowanie"
    })
    assert.deepStrictEqual(await query(buyer, { queryType: "Received" }), [grant!])
    assert.deepStrictEqual(await query(buyer, { queryType: "Granted" }), [])
    assert.deepStrictEqual(await query(buyer, { queryType: "Received", permissionTypes: ["RRInvoicing"] }), [])
    const revoke = async (client: Client) => {
      const { json } = await client.call("DELETE", `/permissions/authorizations/grants/${String(grant!["id"])}`)
      return (await client.call("GET", `/permissions/operations/${json.referenceNumber}`)).json.status.code
    }
    assert.strictEqual(await revoke(buyer), 400)
    assert.strictEqual((await billed("5")).status.code, 200)
    assert.strictEqual(await revoke(grantor), 200)
    assert.strictEqual((await billed("6")).status.code, 410)
    assert.deepStrictEqual(await query(grantor, { queryType: "Granted" }), [])
  })

  it("with a wrong NIP ends as 450 if NIPs are checked", async () => {
    const document = (number: string) => fa3({ number, buyer: "5260250275" })
    const simulator = await start()
    const client = await Client.login(simulator)
    assert.strictEqual((await client.submit(await client.open(), document("1"))).status.code, 200)
    const strict = await client.open(fa3Form, { "x-ksef-feature": "subject-identifier-validation" })
    const { status } = await client.submit(strict, document("2"))
    assert.deepStrictEqual([status.code, status.details], [450, ["Nieprawidłowy numer NIP: 5260250275."]])
    const production = await start({ environment: "prod" })
    const owner = await Client.login(production)
    assert.strictEqual((await owner.submit(await owner.open(), document("3"))).status.code, 450)
  })

  it("with an internal identifier whose check digit is wrong ends as 450 if NIPs are checked", async () => {
    const document = (number: string, id: string) =>
      fa3({ number }).replace(
        "<Fa>",
        `<Podmiot3><DaneIdentyfikacyjne><IDWew>${id}</IDWew><Nazwa>A</Nazwa></DaneIdentyfikacyjne><Rola>4</Rola></Podmiot3><Fa>`
      )
    const simulator = await start()
    const client = await Client.login(simulator)
    const wrong = "6824515772-12344"
    assert.strictEqual((await client.submit(await client.open(), document("1", wrong))).status.code, 200)
    const strict = await client.open(fa3Form, { "x-ksef-feature": "subject-identifier-validation" })
    assert.strictEqual((await client.submit(strict, document("2", "6824515772-12343"))).status.code, 200)
    const { status } = await client.submit(strict, document("3", wrong))
    assert.deepStrictEqual(
      [status.code, status.details],
      [450, [`Identyfikator wewnętrzny podmiotu trzeciego: '${wrong}' jest nieprawidłowy.`]]
    )
  })

  it("with the number of an accepted one ends as 440 and names the original, in any session", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const first = await client.open()
    const original = await client.submit(first, fa3())
    const { status } = await client.submit(await client.open(), fa3({ filler: "Inna usługa" }))
    assert.strictEqual(status.code, 440)
    assert.deepStrictEqual(status.extensions, {
      originalSessionReferenceNumber: first.reference,
      originalKsefNumber: original.ksefNumber!
    })
    assert.lengthOf(simulator.ledger.accepted(), 1)
  })

  it("with the number of an accepted one is a duplicate whatever its white space, as in a token of the schema", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open()
    const original = await client.submit(session, fa3({ number: " FV  1 " }))
    assert.strictEqual(original.invoiceNumber, "FV 1")
    for (const number of ["FV 1", "FV\n1", "\tFV 1"]) {
      assert.strictEqual((await client.submit(session, fa3({ number }))).status.code, 440, JSON.stringify(number))
    }
    assert.strictEqual((await client.submit(session, fa3({ number: "FV1" }))).status.code, 200)
    const rr = await client.open(faRrForm)
    assert.strictEqual((await client.submit(rr, faRr({ number: "RR 1" }))).status.code, 200)
    assert.strictEqual((await client.submit(rr, faRr({ number: "RR  1" }))).status.code, 440)
  })

  it("with the number of a refused one, or of another kind, is no duplicate", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open()
    await client.submit(session, fa3({ issueDate: "2049-01-01" }))
    assert.strictEqual((await client.submit(session, fa3())).status.code, 200)
    assert.strictEqual((await client.submit(session, fa3({ kind: "UPR" }))).status.code, 200)
  })

  it("of the form FA_RR is issued by its buyer", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open(faRrForm)
    const invoice = await client.submit(session, faRr())
    assert.strictEqual(invoice.status.code, 200, JSON.stringify(invoice.status))
    assert.strictEqual(invoice.invoiceNumber, "RR/1")
    assert.match(invoice.ksefNumber ?? "", /^5260250274-/)
    const other = await client.submit(session, faRr({ number: "2", buyer: "1111111111" }))
    assert.strictEqual(other.status.code, 410)
    assert.strictEqual((await client.submit(session, fa3())).status.code, 450)
  })

  it("beyond the most that a session takes is refused with 21155", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const limit = { maxInvoiceSizeInMB: 1, maxInvoiceWithAttachmentSizeInMB: 3, maxInvoices: 1 }
    const body = { onlineSession: limit, batchSession: limit }
    assert.strictEqual((await client.call("POST", "/testdata/limits/context/session", { body })).status, 200)
    const session = await client.open()
    await client.submit(session, fa3())
    assert.deepStrictEqual(codes(await client.send(session, fa3({ number: "2" }))), [21155])
    assert.strictEqual((await client.call("DELETE", "/testdata/limits/context/session")).status, 200)
    assert.strictEqual((await client.send(session, fa3({ number: "2" }))).status, 202)
  })

  it("that is a technical correction is accepted for a refused one only", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const session = await client.open()
    const refused = fa3({ number: "1", issueDate: "2049-01-01" })
    await client.submit(session, refused, { offlineMode: true })
    const correction = { hashOfCorrectedInvoice: sha256(refused) }
    assert.strictEqual((await client.submit(session, fa3({ number: "1" }), correction)).status.code, 200)
    assert.deepStrictEqual(codes(await client.send(session, fa3({ number: "3" }), correction)), [21166])
    const accepted = { hashOfCorrectedInvoice: sha256(fa3({ number: "1" })) }
    assert.deepStrictEqual(codes(await client.send(session, fa3({ number: "4" }), accepted)), [21167])
  })
})
