/** Invoices and receipts of the developer API. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import { submit, until } from "../support/client.ts"
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
      for (const tail of ["", "/upo"]) {
        assert.strictEqual(codeOf(await call("GET", path + tail, { auth: api.tenant.testKey })), "invoice_not_found")
      }
    })
  })
}
