/**
 * Documents that are checked before they are stored, by the server as it is shipped.
 */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { control, everyId } from "./api/suite.ts"
import { problemOf } from "./support/agreement.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant, until } from "./support/client.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"

const invoice = readFileSync(new URL("../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")
const broken = invoice.replace("<P_14_1>23.00", "<P_14_1>23,00")
const checks = { "gov-sandbox-checks": "schema" }

describe("the document checks of a submission", () => {
  let database: TestDatabase
  let server: Server
  let call: Call
  let tenant: Tenant

  beforeAll(async () => {
    database = await openMigrated()
    server = await startServer({ ...database.settings, GOVOICE_ROLE: "api" })
    call = makeCall(() => server.url, await readAgreement(server.url))
    tenant = await signUp(call)
    // A check that takes longer than five seconds lets the document pass, and the first one loads the schemas.
    await until(
      () => send(broken, checks),
      ({ status }) => status === 422
    )
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const send = (xml: string, headers: Record<string, string>, auth = tenant.testKey) =>
    submit(call, auth, { body: { invoice_xml: xml }, headers })

  it("are requested by a header with a test key", async () => {
    assert.strictEqual((await send(invoice, checks)).status, 201)
    const { code, message, param } = problemOf(await send(broken, checks))
    assert.strictEqual(code, "invalid_invoice_xml")
    assert.strictEqual(param, "invoice_xml")
    assert.strictEqual(
      message,
      'invoice_xml is not a valid FA (3) document: line 2, column 878, Faktura/Fa/P_14_1 (Kwota podatku od sumy wartości sprzedaży netto objętej stawką podstawową): "23,00" is not a decimal number; write 23.00.'
    )
  })

  it("leave the idempotency key of a refused document free", async () => {
    const key = { "idempotency-key": randomUUID() }
    assert.strictEqual((await send(broken, { ...checks, ...key })).status, 422)
    assert.strictEqual((await send(invoice, { ...checks, ...key })).status, 201)
  })

  it("are not made for a repeated submission, which has the stored response", async () => {
    const key = { "idempotency-key": randomUUID() }
    // Accepted without checks, as a document is that broke no rule on the day of its submission.
    const accepted = await send(broken, key)
    const repeated = await send(broken, { ...checks, ...key })
    assert.strictEqual(repeated.status, 201)
    assert.strictEqual(repeated.text, accepted.text)
    assert.strictEqual(problemOf(await send(invoice, { ...checks, ...key })).code, "idempotency_conflict")
  })

  it("accept any well-formed document of a test key without the header", async () => {
    assert.strictEqual((await send(broken, {})).status, 201)
  })

  it("are refused with another value of the header", async () => {
    const answer = await send(invoice, { "gov-sandbox-checks": "xsd" })
    assert.strictEqual(answer.status, 422)
    const { code, message, param } = problemOf(answer)
    assert.deepStrictEqual(
      { code, message, param },
      {
        code: "invalid_parameter",
        message: "The Gov-Sandbox-Checks header must be: schema.",
        param: "Gov-Sandbox-Checks"
      }
    )
  })

  it.each([
    ["schema", 422, 0],
    ["well-formed", 201, 1]
  ] as const)(
    "with GOVOICE_DOCUMENT_CHECKS=%s, a wrong document of a live key is answered with %i, and %i are stored",
    async (setting, status, stored) => {
      const live = await startServer({
        ...database.settings,
        GOVOICE_ROLE: "api",
        GOVOICE_DOCUMENT_CHECKS: setting,
        GOVOICE_LIVE_MODE: "true",
        GOVOICE_KSEF_URL: "http://127.0.0.1:9/v2"
      })
      try {
        const callLive = makeCall(() => live.url, await readAgreement(live.url))
        const owner = await signUp(callLive)
        const { liveKey, organizationId, token } = owner
        const credential = await callLive("PUT", `${control}/organizations/${organizationId}/gateway-credential`, {
          auth: token,
          body: { token: "a token of the national system", context: { type: "Nip", value: "5265877635" } }
        })
        assert.strictEqual(credential.status, 204)
        const answer = await submit(callLive, liveKey, { body: { invoice_xml: broken } })
        assert.strictEqual(answer.status, status)
        if (status === 422) assert.strictEqual(problemOf(answer).code, "invalid_invoice_xml")
        assert.strictEqual((await submit(callLive, liveKey, { body: { invoice_xml: invoice } })).status, 201)
        assert.lengthOf(await everyId(callLive, owner), stored + 1)
      } finally {
        await live.stop()
      }
    }
  )

  it("ignore the header of a live key", async () => {
    const answer = await send(invoice, { "gov-sandbox-checks": "xsd" }, tenant.liveKey)
    assert.strictEqual(problemOf(answer).code, "live_mode_unavailable")
  })
})
