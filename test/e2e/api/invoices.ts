/** Invoices and receipts of the developer API. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import { submit, until, xml } from "../support/client.ts"
import { type ApiSuite, codeOf, record, timestamp } from "./suite.ts"

/** Registers the tests. */
export const testInvoices = (api: ApiSuite): void => {
  const { accepted, call } = api

  describe("an invoice", () => {
    const show = (invoiceId: unknown) => call("GET", `/v1/invoices/${String(invoiceId)}`, { auth: api.tenant.testKey })
    const final = async (scenario: string, isEnough: (invoice: Record<string, unknown>) => boolean) => {
      const { id } = record(await submit(call, api.tenant.testKey, { headers: { "gov-sandbox-scenario": scenario } }))
      return record(
        await until(
          () => show(id),
          (answer) => isEnough(record(answer))
        )
      )
    }

    it("is accepted, with a number of the national form, and then has a receipt", async () => {
      const invoice = await final("accepted", ({ upo_available }) => upo_available === true)
      assert.match(String(invoice["official_number"]), /^\d{10}-\d{8}-[0-9A-F]{12}-[0-9A-F]{2}$/)
      assert.deepInclude(invoice, { status: "accepted", attempt_count: 1, rejection: null, failure: null })
      assert.match(String(invoice["submitted_at"]), timestamp)
      assert.match(String(invoice["completed_at"]), timestamp)
    })

    it("is rejected with a reason", async () => {
      const invoice = await final("rejected", ({ status }) => status === "rejected")
      assert.propertyVal(invoice["rejection"] as object, "code", "sandbox_rejected")
      assert.deepInclude(invoice, { scenario: "rejected", official_number: null, upo_available: false })
      assert.match(String(invoice["completed_at"]), timestamp)
    })

    it("fails after three attempts with a reason", async () => {
      const invoice = await final("temporary_failure", ({ status }) => status === "failed")
      assert.propertyVal(invoice["failure"] as object, "code", "gateway_unavailable")
      assert.deepInclude(invoice, { attempt_count: 3, submitted_at: null, next_attempt_at: null })
    })

    it("is accepted later with the scenario delayed", async () => {
      const invoice = await final("delayed", ({ status }) => status === "accepted")
      assert.strictEqual(invoice["scenario"], "delayed")
    })

    it("has a receipt with the stored bytes, a strong validator and a file name", async () => {
      const invoiceId = await accepted()
      const path = `/v1/invoices/${invoiceId}/upo`
      const answer = await call("GET", path, { auth: api.tenant.testKey })
      assert.strictEqual(answer.headers.get("content-type"), "application/xml")
      assert.include(answer.text, "Potwierdzenie")
      assert.match(answer.text, /sandbox/i)
      const etag = answer.headers.get("etag") ?? ""
      assert.strictEqual(etag, `"${createHash("sha256").update(answer.text).digest("hex")}"`)
      assert.strictEqual(answer.headers.get("content-disposition"), `attachment; filename="upo-${invoiceId}.xml"`)
      assert.strictEqual((await call("GET", path, { auth: api.tenant.testKey })).text, answer.text)

      for (const value of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const unchanged = await call("GET", path, { auth: api.tenant.testKey, headers: { "if-none-match": value } })
        assert.strictEqual(unchanged.status, 304, value)
        assert.strictEqual(unchanged.headers.get("etag"), etag)
        assert.strictEqual(unchanged.text, "")
      }
      const changed = await call("GET", path, { auth: api.tenant.testKey, headers: { "if-none-match": '"x"' } })
      assert.strictEqual(changed.status, 200)
    })

    it("has its document, byte for byte", async () => {
      // A byte order mark, a letter of two bytes and one of four.
      const xml = "\uFEFF<?xml version='1.0'?><Faktura>ż\u{1F9FE}</Faktura>\n"
      const { id } = record(await submit(call, api.tenant.testKey, { body: { invoice_xml: xml } }))
      const path = `/v1/invoices/${String(id)}/document`
      const answer = await fetch(api.server.url + path, { headers: { authorization: `Bearer ${api.tenant.testKey}` } })
      const bytes = Buffer.from(await answer.arrayBuffer())
      assert.deepStrictEqual(bytes, Buffer.from(xml))
      assert.strictEqual(answer.headers.get("content-type"), "application/xml")
      assert.strictEqual(answer.headers.get("content-length"), String(bytes.length))
      assert.strictEqual(answer.headers.get("content-disposition"), `attachment; filename="invoice-${String(id)}.xml"`)
      const etag = answer.headers.get("etag") ?? ""
      assert.strictEqual(etag, `"${createHash("sha256").update(bytes).digest("hex")}"`)
      const again = await call("GET", path, { auth: api.tenant.testKey, headers: { "if-none-match": etag } })
      assert.strictEqual(again.status, 304)
    })

    it("has a QR code from the submission on, whose label becomes the official number", async () => {
      let submitted: Record<string, unknown> = {}
      const draw = (query = "", headers = {}) =>
        call("GET", `/v1/invoices/${String(submitted["id"])}/qr${query}`, { auth: api.tenant.testKey, headers })
      // One is drawn before it is accepted.
      const early = await until(
        async () => {
          submitted = record(await submit(call, api.tenant.testKey, { headers: { "gov-sandbox-scenario": "delayed" } }))
          return draw()
        },
        ({ text }) => text.includes(">OFFLINE</text>")
      )
      assert.strictEqual(early.headers.get("content-type"), "image/svg+xml")
      assert.strictEqual(early.headers.get("cache-control"), "private, no-cache")
      assert.notInclude((await draw("?label=false")).text, "<text")
      const png = await draw("?format=png")
      assert.strictEqual(png.headers.get("content-type"), "image/png")

      const accepted = await until(
        () => show(submitted["id"]),
        (answer) => record(answer)["status"] === "accepted"
      )
      const headers = { "if-none-match": early.headers.get("etag") ?? "" }
      const late = await draw("", headers)
      assert.include(late.text, `>${String(record(accepted)["official_number"])}</text>`)
      assert.strictEqual((await draw("?code=1&format=svg&label=true")).text, late.text)
      const same = await draw("", { "if-none-match": late.headers.get("etag") ?? "" })
      assert.deepStrictEqual([same.status, same.headers.get("cache-control")], [304, "private, no-cache"])
    })

    it("is drawn as a PDF, whose bytes change with the official number alone", async () => {
      const submitted = record(await submit(call, api.tenant.testKey))
      const path = `/v1/invoices/${String(submitted["id"])}/pdf`
      const draw = (headers = {}) => call("GET", path, { auth: api.tenant.testKey, headers })
      const early = await draw()
      assert.strictEqual(early.status, 200)
      assert.strictEqual(early.headers.get("content-type"), "application/pdf")
      assert.strictEqual(early.headers.get("cache-control"), "private, no-cache")
      assert.strictEqual(
        early.headers.get("content-disposition"),
        `attachment; filename="invoice-${String(submitted["id"])}.pdf"`
      )
      assert.match(early.text, /^%PDF-1\.\d\n/)
      await until(
        () => show(submitted["id"]),
        (answer) => record(answer)["status"] === "accepted"
      )
      const late = await draw({ "if-none-match": early.headers.get("etag") ?? "" })
      assert.strictEqual(late.status, 200)
      assert.strictEqual((await draw({ "if-none-match": late.headers.get("etag") ?? "" })).status, 304)
    })

    it("is drawn as no PDF if its document is of another form", async () => {
      const { id } = record(await submit(call, api.tenant.testKey, { body: { invoice_xml: "<a/>" } }))
      const refused = await call("GET", `/v1/invoices/${String(id)}/pdf`, { auth: api.tenant.testKey })
      assert.strictEqual(codeOf(refused), "pdf_not_available")
      assert.include(refused.text, "its document is not FA (2), FA (3) or FA_RR (1)")
    })

    it("has a second QR code if it was issued offline", async () => {
      const body = { invoice_xml: xml, invoicing_mode: "offline" }
      const { id } = record(await submit(call, api.tenant.testKey, { body }))
      const second = await call("GET", `/v1/invoices/${String(id)}/qr?code=2`, { auth: api.tenant.testKey })
      assert.strictEqual(second.status, 200)
      assert.include(second.text, ">CERTYFIKAT</text>")
    })

    it("has no QR code without seller and date, and no second one unless it was issued offline", async () => {
      const { id } = record(await submit(call, api.tenant.testKey, { body: { invoice_xml: "<a/>" } }))
      const none = await call("GET", `/v1/invoices/${String(id)}/qr`, { auth: api.tenant.testKey })
      assert.strictEqual(codeOf(none), "verification_not_available")
      const path = `/v1/invoices/${await accepted()}/qr`
      const draw = (query: string) => call("GET", path + query, { auth: api.tenant.testKey })
      assert.strictEqual(codeOf(await draw("?code=2")), "verification_not_available")
      for (const wrong of ["code=3", "code=", "format=gif", "label=yes"]) {
        assert.strictEqual(codeOf(await draw(`?${wrong}`)), "invalid_parameter", wrong)
      }
      assert.strictEqual(codeOf(await draw("?size=3")), "unknown_parameter")
    })

    it("has no receipt before it is available, and none if it was rejected", async () => {
      const delayed = record(await submit(call, api.tenant.testKey, { headers: { "gov-sandbox-scenario": "delayed" } }))
      const early = await call("GET", `/v1/invoices/${String(delayed["id"])}/upo`, { auth: api.tenant.testKey })
      assert.strictEqual(codeOf(early), "upo_not_available")
      const { id } = await final("rejected", ({ status }) => status === "rejected")
      const never = await call("GET", `/v1/invoices/${String(id)}/upo`, { auth: api.tenant.testKey })
      assert.strictEqual(codeOf(never), "upo_not_available")
    })

    it.each([
      "inv_",
      "inv_x",
      "x",
      "%00",
      "%20",
      "..%2f",
      "a".repeat(8000),
      "inv_01m7q5cqg0e6786ptds43fm4k3",
      "'; DROP TABLE invoices; --"
    ])("is not found under the identifier %s", async (wrong) => {
      const path = `/v1/invoices/${wrong.includes("%") ? wrong : encodeURIComponent(wrong)}`
      for (const tail of ["", "/upo", "/document", "/qr"]) {
        assert.strictEqual(codeOf(await call("GET", path + tail, { auth: api.tenant.testKey })), "invoice_not_found")
      }
    })
  })
}
