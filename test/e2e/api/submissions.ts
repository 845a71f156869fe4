/** `POST /v1/invoices`: the body, its limits and its errors. */
import { createHash, randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { assert, describe, it } from "vitest"
import { PolishTime } from "../../../packages/ksef/src/format.ts"
import { problemOf } from "../support/agreement.ts"
import { submit, until, xml } from "../support/client.ts"
import { type ApiSuite, codeOf, id, record, timestamp } from "./suite.ts"

const many = (count: number, keyLength = 4, valueLength = 1): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [String(index).padStart(keyLength, "k"), "v".repeat(valueLength)])
  )

/** Registers the tests. */
export const testSubmissions = (api: ApiSuite): void => {
  const { call } = api

  describe("POST /v1/invoices", () => {
    it("answers 201 with the invoice, exactly the members of the contract, and its location", async () => {
      const answer = await submit(call, api.tenant.testKey, {
        body: { invoice_xml: "<a/>", metadata: { order: "4711" } }
      })
      const { created_at, id: invoiceId, updated_at, ...rest } = record(answer)
      assert.strictEqual(answer.status, 201)
      assert.match(String(invoiceId), id("inv"))
      assert.match(String(created_at), timestamp)
      assert.strictEqual(updated_at, created_at)
      assert.strictEqual(answer.headers.get("location"), `/v1/invoices/${String(invoiceId)}`)
      assert.isNull(answer.headers.get("idempotent-replayed"))
      assert.deepStrictEqual(rest, {
        object: "invoice",
        mode: "test",
        status: "queued",
        scenario: "accepted",
        metadata: { order: "4711" },
        document: null,
        verification: null,
        invoicing_mode: "online",
        official_mode: null,
        send_by: null,
        corrects: null,
        warnings: [],
        official_number: null,
        rejection: null,
        failure: null,
        upo_available: false,
        attempt_count: 0,
        next_attempt_at: null,
        submitted_at: null,
        completed_at: null
      })
    })

    it("answers with what the document says, and with the code to print on it", async () => {
      const headers = { "idempotency-key": randomUUID() }
      const body = {
        invoice_xml: await readFile(new URL("../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")
      }
      const first = await submit(call, api.tenant.testKey, { body, headers })
      const { document, id: invoiceId, verification } = record(first)
      assert.deepStrictEqual(document, {
        form: "FA (3)",
        kind: "VAT",
        number: "FV/2026/11/0001",
        issue_date: "2026-11-20",
        currency: "PLN",
        total: "123.00",
        seller: { tax_id: "5265877635", name: "Sprzedawca Testowy sp. z o.o." },
        buyer: { tax_id: "5260250274", name: "Nabywca Testowy" }
      })
      const hash = createHash("sha256").update(body.invoice_xml).digest("base64url")
      const url = `https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/${hash}`
      assert.deepStrictEqual(verification, { url, label: "OFFLINE", certificate_url: null })

      const again = await submit(call, api.tenant.testKey, { body, headers })
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      assert.strictEqual(again.text, first.text)
      const show = () => call("GET", `/v1/invoices/${String(invoiceId)}`, { auth: api.tenant.testKey })
      const accepted = record(await until(show, (answer) => record(answer)["status"] === "accepted"))
      assert.deepStrictEqual(accepted["document"], document)
      assert.deepStrictEqual(accepted["verification"], {
        url,
        label: accepted["official_number"],
        certificate_url: null
      })
    })

    it("answers with the warnings about a document that was checked, then, again, later and in lists", async () => {
      const invoice = await readFile(new URL("../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")
      const body = {
        invoice_xml: invoice
          .replace(/<P_1>[^<]*/, `<P_1>${PolishTime.day(Date.now())}`)
          .replace("<P_15>123.00", "<P_15>124.00")
      }
      const line = 2
      const column = body.invoice_xml.split("\n")[1]!.indexOf("<P_15>") + 1
      const unchecked = await submit(call, api.tenant.testKey, { body })
      assert.deepStrictEqual(record(unchecked)["warnings"], [])

      const headers = { "idempotency-key": randomUUID(), "gov-sandbox-checks": "schema" }
      const first = await submit(call, api.tenant.testKey, { body, headers })
      const { id: invoiceId, warnings } = record(first)
      const message =
        "Faktura/Fa/P_15: the amount due is 124.00, and the net values and taxes by rate (P_13, P_14) add up to 123.00 (Broszura informacyjna dotycząca struktury logicznej FA(3))."
      assert.deepStrictEqual(warnings, [{ code: "total_differs", message, line, column }])
      const again = await submit(call, api.tenant.testKey, { body, headers })
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      assert.strictEqual(again.text, first.text)

      const show = () => call("GET", `/v1/invoices/${String(invoiceId)}`, { auth: api.tenant.testKey })
      const accepted = record(await until(show, (answer) => record(answer)["status"] === "accepted"))
      assert.deepStrictEqual(accepted["warnings"], warnings)
      for (const [path, auth] of [
        ["/v1/invoices", api.tenant.testKey],
        [`/v1/control-plane/organizations/${api.tenant.organizationId}/invoices`, api.tenant.token]
      ] as const) {
        const list = await call("GET", `${path}?number=FV/2026/11/0001`, { auth })
        const found = (record(list)["data"] as ReadonlyArray<Record<string, unknown>>).find(
          ({ id }) => id === invoiceId
        )
        assert.deepStrictEqual(found?.["warnings"], warnings, path)
      }
    })

    it("checks headers before the body, and the key before both", async () => {
      const wrong = { raw: "not json", headers: { "content-type": "text/plain" } }
      assert.strictEqual(codeOf(await call("POST", "/v1/invoices", wrong)), "missing_api_key")
      const auth = api.tenant.testKey
      assert.strictEqual(codeOf(await call("POST", "/v1/invoices", { ...wrong, auth })), "missing_idempotency_key")
      const headers = { ...wrong.headers, "idempotency-key": "k", "gov-sandbox-scenario": "no" }
      assert.strictEqual(
        codeOf(await call("POST", "/v1/invoices", { ...wrong, auth, headers })),
        "invalid_sandbox_scenario"
      )
    })

    it("refuses unknown checks of a test invoice", async () => {
      const answer = await submit(call, api.tenant.testKey, { headers: { "gov-sandbox-checks": "no" } })
      assert.deepInclude(problemOf(answer), { code: "invalid_parameter", param: "Gov-Sandbox-Checks" })
    })

    const keys: ReadonlyArray<readonly [string, string | undefined, string]> = [
      ["no key", undefined, "missing_idempotency_key"],
      ["an empty key", "", "missing_idempotency_key"],
      ["a key of 256 characters", "k".repeat(256), "invalid_idempotency_key"],
      ["a key with a tab", "a\tb", "invalid_idempotency_key"],
      ["a key that is not ASCII", "clé", "invalid_idempotency_key"],
      ["a key of 255 characters", `${randomUUID()}${"k".repeat(255)}`.slice(0, 255), "201"],
      ["a key with spaces inside", `a key of ${randomUUID()}`, "201"],
      ["a key of one character", "~", "201"]
    ]

    it.each(keys)("reads an Idempotency-Key: %s", async (_, key, expected) => {
      const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key }
      const answer = await call("POST", "/v1/invoices", {
        auth: api.tenant.testKey,
        headers,
        body: { invoice_xml: xml }
      })
      assert.strictEqual(codeOf(answer), expected)
    })

    const bodies: ReadonlyArray<readonly [string, unknown, string, string | null, RegExp]> = [
      ["no document", {}, "invalid_invoice_xml", "invoice_xml", /missing/],
      ["a document that is null", { invoice_xml: null }, "invalid_invoice_xml", "invoice_xml", /string/],
      ["a document that is a number", { invoice_xml: 1 }, "invalid_invoice_xml", "invoice_xml", /string/],
      ["an empty document", { invoice_xml: "" }, "invalid_invoice_xml", "invoice_xml", /empty/],
      ["a document of white space", { invoice_xml: " \n" }, "invalid_invoice_xml", "invoice_xml", /empty/],
      ["a byte order mark alone", { invoice_xml: "\uFEFF" }, "invalid_invoice_xml", "invoice_xml", /empty/],
      ["text", { invoice_xml: "text" }, "invalid_invoice_xml", "invoice_xml", /line 1, column \d+/],
      ["an open element", { invoice_xml: "<a>\n<b></a>" }, "invalid_invoice_xml", "invoice_xml", /line 2, column \d+/],
      ["two roots", { invoice_xml: "<a/><b/>" }, "invalid_invoice_xml", "invoice_xml", /line 1, column \d+/],
      ["a DOCTYPE", { invoice_xml: "<!DOCTYPE a><a/>" }, "invalid_invoice_xml", "invoice_xml", /DOCTYPE/],
      ["an entity that nobody defined", { invoice_xml: "<a>&b;</a>" }, "invalid_invoice_xml", "invoice_xml", /entity/],
      [
        "two hyphens in a comment",
        { invoice_xml: "<a><!-- -- --></a>" },
        "invalid_invoice_xml",
        "invoice_xml",
        /line 1/
      ],
      [
        "a late declaration",
        { invoice_xml: ' <?xml version="1.0"?><a/>' },
        "invalid_invoice_xml",
        "invoice_xml",
        /line 1/
      ],
      ["a NUL", { invoice_xml: "<a>\u0000</a>" }, "invalid_invoice_xml", "invoice_xml", /NUL/],
      ["half a surrogate pair", { invoice_xml: "<a>\ud800</a>" }, "invalid_invoice_xml", "invoice_xml", /surrogate/],
      ["a forbidden character", { invoice_xml: "<a>\u0001</a>" }, "invalid_invoice_xml", "invoice_xml", /line 1/],
      [
        "more than 1,000,000 bytes",
        { invoice_xml: `<a>${"é".repeat(500_000)}</a>` },
        "invalid_invoice_xml",
        "invoice_xml",
        /1,000,000/
      ],
      ["metadata that is a list", { invoice_xml: xml, metadata: [] }, "invalid_metadata", "metadata", /object/],
      ["metadata that is text", { invoice_xml: xml, metadata: "a" }, "invalid_metadata", "metadata", /object/],
      [
        "a metadata value that is a number",
        { invoice_xml: xml, metadata: { a: 1 } },
        "invalid_metadata",
        "metadata",
        /string/
      ],
      [
        "a metadata value that is null",
        { invoice_xml: xml, metadata: { a: null } },
        "invalid_metadata",
        "metadata",
        /string/
      ],
      ["51 metadata keys", { invoice_xml: xml, metadata: many(51) }, "invalid_metadata", "metadata", /50/],
      [
        "a metadata key of 41 characters",
        { invoice_xml: xml, metadata: { ["k".repeat(41)]: "" } },
        "invalid_metadata",
        "metadata",
        /40/
      ],
      [
        "a metadata value of 501 characters",
        { invoice_xml: xml, metadata: { k: "v".repeat(501) } },
        "invalid_metadata",
        "metadata",
        /500/
      ],
      ["a NUL in metadata", { invoice_xml: xml, metadata: { k: "\u0000" } }, "invalid_metadata", "metadata", /NUL/],
      [
        "half a surrogate pair in a metadata key",
        { invoice_xml: xml, metadata: { "\udc00": "" } },
        "invalid_metadata",
        "metadata",
        /surrogate/
      ],
      [
        "a member that nobody knows",
        { invoice_xml: xml, invoiceXml: xml },
        "unknown_parameter",
        "invoiceXml",
        /invoiceXml/
      ]
    ]

    it.each(bodies)("refuses %s, and leaves its key free", async (_, body, code, param, message) => {
      const headers = { "idempotency-key": randomUUID() }
      const answer = await submit(call, api.tenant.testKey, { body, headers })
      assert.strictEqual(codeOf(answer), code)
      assert.strictEqual(problemOf(answer).param, param)
      assert.match(problemOf(answer).message, message)
      assert.strictEqual((await submit(call, api.tenant.testKey, { headers })).status, 201)
    })

    const taken: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
      ["a document of exactly 1,000,000 bytes", { invoice_xml: `<a>${"é".repeat(499_996)}x</a>` }],
      [
        "a document of exactly 3,000,000 bytes with an attachment",
        { invoice_xml: `<a><Zalacznik>${"é".repeat(1_499_985)}</Zalacznik></a>` }
      ],
      ["a byte order mark before the document", { invoice_xml: `\uFEFF<?xml version="1.0" encoding="UTF-8"?>${xml}` }],
      ["a DOCTYPE as text", { invoice_xml: "<a><![CDATA[<!DOCTYPE a>]]><!-- <!DOCTYPE a> --></a>" }],
      ["50 metadata keys of 40 characters with values of 500", { invoice_xml: xml, metadata: many(50, 40, 500) }],
      [
        "lengths in code points, not in units of UTF-16",
        { invoice_xml: xml, metadata: { ["𝄞".repeat(40)]: "𝄞".repeat(500) } }
      ],
      ["metadata that is null", { invoice_xml: xml, metadata: null }],
      ["an empty metadata key and an empty value", { invoice_xml: xml, metadata: { "": "" } }]
    ]

    it.each(taken)("accepts %s", async (_, body) => {
      const answer = await submit(call, api.tenant.testKey, { body })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepStrictEqual(record(answer)["metadata"], body["metadata"] ?? {})
    })

    it("accepts a metadata key __proto__ like any other", async () => {
      const answer = await submit(call, api.tenant.testKey, {
        raw: `{"invoice_xml":"<a/>","metadata":{"__proto__":"kept","constructor":"too"}}`
      })
      assert.include(answer.text, `"metadata":{"__proto__":"kept","constructor":"too"}`)
      const shown = await call("GET", answer.headers.get("location") ?? "", { auth: api.tenant.testKey })
      assert.include(shown.text, `"__proto__":"kept"`)
    })

    it("lets a live key send any scenario, and answers live_mode_unavailable while live mode is closed", async () => {
      const headers = { "gov-sandbox-scenario": "anything" }
      assert.strictEqual(codeOf(await submit(call, api.tenant.liveKey, { headers })), "live_mode_unavailable")
    })
  })
}
