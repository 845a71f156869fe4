/**
 * The API as the contract has it, over HTTP against the server as a process, on both databases. Every answer is held to
 * the OpenAPI document of the server; in the end, every answer that the document promises has been seen.
 */
import { createHash, createHmac, randomUUID } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { create } from "../../apps/server/test/support/TestDatabase.ts"
import { type Agreement, type Answer, catalog, problemOf } from "./support/agreement.ts"
import {
  type Call,
  makeCall,
  password,
  readAgreement,
  signUp,
  submit,
  type Tenant,
  until,
  xml
} from "./support/client.ts"
import { databases, type TestDatabase } from "./support/databases.ts"
import { operationsOf, optionsOf } from "./support/operations.ts"
import { startProxy } from "./support/proxy.ts"
import { secrets, type Server, startServer } from "./support/server.ts"

const control = "/v1/control-plane"
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const id = (prefix: string): RegExp => new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)

const codeOf = (answer: Answer): string => (answer.status < 400 ? String(answer.status) : problemOf(answer).code)
const record = (answer: Answer): Record<string, unknown> => answer.json as Record<string, unknown>
const data = (answer: Answer): ReadonlyArray<Record<string, unknown>> =>
  record(answer)["data"] as ReadonlyArray<Record<string, unknown>>

const accounts: Array<Agreement> = []

for (const { name, open } of databases) {
  describe(`the API on ${name}`, () => {
    let database: TestDatabase
    let server: Server
    let agreement: Agreement
    let call: Call
    let tenant: Tenant
    let other: Tenant

    beforeAll(async () => {
      database = await open()
      server = await startServer({
        ...database.settings,
        GOVOICE_RATE_LIMIT_PER_SECOND: "10000",
        GOVOICE_RATE_LIMIT_BURST: "10000"
      })
      agreement = await readAgreement(server.url)
      accounts.push(agreement)
      call = makeCall(() => server.url, agreement)
      tenant = await signUp(call)
      other = await signUp(call)
    })

    afterAll(async () => {
      await server?.stop()
      await database?.drop()
    })

    const accepted = async (key = tenant.testKey): Promise<string> => {
      const invoiceId = String(record(await submit(call, key))["id"])
      await until(
        () => call("GET", `/v1/invoices/${invoiceId}`, { auth: key }),
        (answer) => record(answer)["upo_available"] === true
      )
      return invoiceId
    }

    describe("GET /v1/me", () => {
      it("shows the key and its organization, with exactly the members of the contract", async () => {
        const answer = await call("GET", "/v1/me", { auth: tenant.testKey })
        const { created_at, ...rest } = record(answer)
        assert.match(String(created_at), timestamp)
        assert.deepStrictEqual(rest, {
          object: "api_key",
          id: tenant.testKeyId,
          mode: "test",
          name: "integration",
          last4: tenant.testKey.slice(-4),
          organization: { id: tenant.organizationId, object: "organization", name: "Example" },
          live_mode_available: false
        })
      })

      it("shows the mode of a live key, although live mode is closed", async () => {
        const answer = await call("GET", "/v1/me", { auth: tenant.liveKey })
        assert.deepInclude(record(answer), { mode: "live", name: null, live_mode_available: false })
      })

      it("answers HEAD like GET, without a body", async () => {
        const answer = await call("HEAD", "/v1/me", { auth: tenant.testKey })
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.text, "")
        assert.isAbove(Number(answer.headers.get("content-length")), 0)
      })
    })

    describe("credentials", () => {
      const refused: ReadonlyArray<readonly [string, (tenant: Tenant) => Record<string, string>]> = [
        ["none", () => ({})],
        ["an empty header", () => ({ authorization: "" })],
        ["a scheme alone", () => ({ authorization: "Bearer" })],
        ["another scheme", ({ testKey }) => ({ authorization: `Basic ${testKey}` })],
        ["a key that nobody has", () => ({ authorization: `Bearer sk_test_${"a".repeat(39)}` })],
        ["a key with a letter changed", ({ testKey }) => ({ authorization: `Bearer ${flip(testKey)}` })],
        [
          "a key of the other mode's prefix",
          ({ testKey }) => ({ authorization: `Bearer ${testKey.replace("test", "live")}` })
        ],
        ["a key in capitals", ({ testKey }) => ({ authorization: `Bearer ${testKey.toUpperCase()}` })],
        ["a key with something after it", ({ testKey }) => ({ authorization: `Bearer ${testKey} x` })],
        ["an access token", ({ token }) => ({ authorization: `Bearer ${token}` })],
        ["a key in another header", ({ testKey }) => ({ "x-api-key": testKey })]
      ]

      it.each(refused)("answers missing_api_key to %s", async (_, headers) => {
        for (const path of ["/v1/me", "/v1/invoices/inv_x", "/v1/invoices/inv_x/upo"]) {
          const answer = await call("GET", path, { headers: headers(tenant) })
          assert.strictEqual(codeOf(answer), "missing_api_key")
          assert.isNull(answer.headers.get("ratelimit"), "a key that was not recognised has no limit")
        }
        assert.strictEqual(codeOf(await call("POST", "/v1/invoices", { headers: headers(tenant) })), "missing_api_key")
      })

      it("takes the scheme in any letter case", async () => {
        const answer = await call("GET", "/v1/me", { headers: { authorization: `bEaReR ${tenant.testKey}` } })
        assert.strictEqual(answer.status, 200)
      })

      it("makes keys of 192 random bits in base62 with a checksum, of which the last four characters are kept", async () => {
        const { organizationId, testKey, liveKey, token: auth } = tenant
        assert.match(testKey, /^sk_test_[0-9A-Za-z]{39}$/)
        assert.match(liveKey, /^sk_live_[0-9A-Za-z]{39}$/)
        const list = await call("GET", `${control}/organizations/${organizationId}/api-keys`, { auth })
        assert.sameMembers(
          data(list).map(({ last4 }) => last4),
          [testKey.slice(-4), liveKey.slice(-4)]
        )
        assert.notInclude(list.text, "secret")
      })

      it("stops a key when it is revoked, at once", async () => {
        const { organizationId, token: auth } = tenant
        const made = await call("POST", `${control}/organizations/${organizationId}/api-keys`, {
          auth,
          body: { mode: "test" }
        })
        const key = record(made)
        assert.strictEqual((await call("GET", "/v1/me", { auth: String(key["secret"]) })).status, 200)
        assert.strictEqual((await call("DELETE", `${control}/api-keys/${String(key["id"])}`, { auth })).status, 204)
        assert.strictEqual(codeOf(await call("GET", "/v1/me", { auth: String(key["secret"]) })), "missing_api_key")
        const again = await call("DELETE", `${control}/api-keys/${String(key["id"])}`, { auth })
        assert.strictEqual(codeOf(again), "api_key_not_found")
      })

      it("stops a key when it expires", async () => {
        const made = await call("POST", `${control}/organizations/${tenant.organizationId}/api-keys`, {
          auth: tenant.token,
          body: { mode: "test", expires_at: new Date(Date.now() + 1500).toISOString() }
        })
        const auth = String(record(made)["secret"])
        assert.strictEqual((await call("GET", "/v1/me", { auth })).status, 200)
        await until(
          () => call("GET", "/v1/me", { auth }),
          (answer) => codeOf(answer) === "missing_api_key",
          4000
        )
      })

      const tokens: ReadonlyArray<readonly [string, (token: string) => string]> = [
        [
          "one that is signed by somebody else",
          (token) => forge(token, { alg: "HS256", typ: "JWT" }, "another secret")
        ],
        ["one without a signature", (token) => `${encode({ alg: "none" })}.${token.split(".")[1]}.`],
        ["one whose claims were changed", (token) => changed(token)],
        ["one that is cut off", (token) => token.slice(0, -3)],
        ["an API key", () => tenant.testKey],
        ["nonsense", () => "a.b.c"]
      ]

      it.each(tokens)("answers missing_access_token to %s", async (_, make) => {
        const auth = make(tenant.token)
        for (const operation of operationsOf(tenant, "inv_x")) {
          if (operation.auth !== "token") continue
          const answer = await call(operation.method, operation.path, {
            ...optionsOf(operation, { key: auth, token: auth })
          })
          assert.strictEqual(codeOf(answer), "missing_access_token", operation.id)
        }
      })
    })

    describe("POST /v1/invoices", () => {
      it("answers 201 with the invoice, exactly the members of the contract, and where it is", async () => {
        const answer = await submit(call, tenant.testKey, { body: { invoice_xml: xml, metadata: { order: "4711" } } })
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

      it("judges headers before the body, and the key before both", async () => {
        const wrong = { raw: "not json", headers: { "content-type": "text/plain" } }
        assert.strictEqual(codeOf(await call("POST", "/v1/invoices", wrong)), "missing_api_key")
        const auth = tenant.testKey
        assert.strictEqual(codeOf(await call("POST", "/v1/invoices", { ...wrong, auth })), "missing_idempotency_key")
        const headers = { ...wrong.headers, "idempotency-key": "k", "gov-sandbox-scenario": "no" }
        assert.strictEqual(
          codeOf(await call("POST", "/v1/invoices", { ...wrong, auth, headers })),
          "invalid_sandbox_scenario"
        )
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

      it.each(keys)("with %s", async (_, key, expected) => {
        const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key }
        const answer = await call("POST", "/v1/invoices", { auth: tenant.testKey, headers, body: { invoice_xml: xml } })
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
        [
          "an open element",
          { invoice_xml: "<a>\n<b></a>" },
          "invalid_invoice_xml",
          "invoice_xml",
          /line 2, column \d+/
        ],
        ["two roots", { invoice_xml: "<a/><b/>" }, "invalid_invoice_xml", "invoice_xml", /line 1, column \d+/],
        ["a DOCTYPE", { invoice_xml: "<!DOCTYPE a><a/>" }, "invalid_invoice_xml", "invoice_xml", /DOCTYPE/],
        [
          "an entity that nobody defined",
          { invoice_xml: "<a>&b;</a>" },
          "invalid_invoice_xml",
          "invoice_xml",
          /entity/
        ],
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

      it.each(bodies)("refuses %s, and its key can be used again", async (_, body, code, param, message) => {
        const headers = { "idempotency-key": randomUUID() }
        const answer = await submit(call, tenant.testKey, { body, headers })
        assert.strictEqual(codeOf(answer), code)
        assert.strictEqual(problemOf(answer).param, param)
        assert.match(problemOf(answer).message, message)
        assert.strictEqual((await submit(call, tenant.testKey, { headers })).status, 201)
      })

      const taken: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
        ["a document of exactly 1,000,000 bytes", { invoice_xml: `<a>${"é".repeat(499_996)}x</a>` }],
        [
          "a byte order mark before the document",
          { invoice_xml: `\uFEFF<?xml version="1.0" encoding="UTF-8"?>${xml}` }
        ],
        ["a DOCTYPE as text", { invoice_xml: "<a><![CDATA[<!DOCTYPE a>]]><!-- <!DOCTYPE a> --></a>" }],
        ["50 metadata keys of 40 characters with values of 500", { invoice_xml: xml, metadata: many(50, 40, 500) }],
        [
          "lengths in code points, not in units of UTF-16",
          { invoice_xml: xml, metadata: { ["𝄞".repeat(40)]: "𝄞".repeat(500) } }
        ],
        ["metadata that is null", { invoice_xml: xml, metadata: null }],
        ["an empty metadata key and an empty value", { invoice_xml: xml, metadata: { "": "" } }]
      ]

      it.each(taken)("takes %s", async (_, body) => {
        const answer = await submit(call, tenant.testKey, { body })
        assert.strictEqual(answer.status, 201, answer.text)
        assert.deepStrictEqual(record(answer)["metadata"], body["metadata"] ?? {})
      })

      it("takes a metadata key __proto__ as an ordinary key", async () => {
        const answer = await submit(call, tenant.testKey, {
          raw: `{"invoice_xml":"<a/>","metadata":{"__proto__":"kept","constructor":"too"}}`
        })
        assert.include(answer.text, `"metadata":{"__proto__":"kept","constructor":"too"}`)
        const shown = await call("GET", answer.headers.get("location") ?? "", { auth: tenant.testKey })
        assert.include(shown.text, `"__proto__":"kept"`)
      })

      it("lets a live key send any scenario, and answers live_mode_unavailable while live mode is closed", async () => {
        const headers = { "gov-sandbox-scenario": "anything" }
        assert.strictEqual(codeOf(await submit(call, tenant.liveKey, { headers })), "live_mode_unavailable")
      })
    })

    describe("idempotency", () => {
      it("replays status and body for the same request, however its JSON is written", async () => {
        const headers = { "idempotency-key": randomUUID() }
        const first = await submit(call, tenant.testKey, {
          headers,
          raw: `{"invoice_xml":"<a/>","metadata":{"a":"1","b":"2"}}`
        })
        const again = await submit(call, tenant.testKey, {
          headers: { ...headers, "gov-sandbox-scenario": "accepted" },
          raw: `{ "metadata": {"b":"2", "a":"\\u0031"}, "invoice_xml": "\\u003ca/>" }`
        })
        assert.strictEqual(again.status, 201)
        assert.strictEqual(again.text, first.text)
        assert.strictEqual(again.headers.get("location"), first.headers.get("location"))
        assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
        assert.notStrictEqual(again.headers.get("request-id"), first.headers.get("request-id"))
      })

      it("replays the first answer after the invoice has moved on", async () => {
        const headers = { "idempotency-key": randomUUID() }
        const first = await submit(call, tenant.testKey, { headers })
        await until(
          () => call("GET", first.headers.get("location") ?? "", { auth: tenant.testKey }),
          (answer) => record(answer)["status"] === "accepted"
        )
        assert.strictEqual((await submit(call, tenant.testKey, { headers })).text, first.text)
      })

      const conflicts: ReadonlyArray<readonly [string, Record<string, string>, Record<string, unknown>]> = [
        ["document", {}, { invoice_xml: `${xml} ` }],
        ["metadata", {}, { invoice_xml: xml, metadata: { a: "1" } }],
        ["scenario", { "gov-sandbox-scenario": "rejected" }, { invoice_xml: xml }]
      ]

      it.each(conflicts)("answers idempotency_conflict to another %s under the same key", async (_, more, body) => {
        const headers = { "idempotency-key": randomUUID() }
        await submit(call, tenant.testKey, { headers })
        const answer = await submit(call, tenant.testKey, { headers: { ...headers, ...more }, body })
        assert.strictEqual(codeOf(answer), "idempotency_conflict")
      })

      it("counts absent, null and empty metadata as the same", async () => {
        const headers = { "idempotency-key": randomUUID() }
        const first = await submit(call, tenant.testKey, { headers })
        for (const metadata of [null, {}]) {
          const again = await submit(call, tenant.testKey, { headers, body: { invoice_xml: xml, metadata } })
          assert.strictEqual(again.text, first.text)
        }
      })

      it("keeps the keys of organizations apart", async () => {
        const headers = { "idempotency-key": randomUUID() }
        const mine = await submit(call, tenant.testKey, { headers })
        const theirs = await submit(call, other.testKey, { headers })
        assert.strictEqual(theirs.status, 201)
        assert.isNull(theirs.headers.get("idempotent-replayed"))
        assert.notStrictEqual(record(theirs)["id"], record(mine)["id"])
      })

      it("makes one invoice of 50 duplicates at once, and gives all of them the same answer", async () => {
        const headers = { "idempotency-key": randomUUID() }
        const before = await everyId(call, tenant)
        const answers = await Promise.all(Array.from({ length: 50 }, () => submit(call, tenant.testKey, { headers })))
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
        assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
        const first = answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)
        assert.strictEqual(first.length, 1)
        assert.strictEqual((await everyId(call, tenant)).length, before.length + 1)
      })

      it("lets one of 50 different requests at once have the key", async () => {
        const headers = { "idempotency-key": randomUUID() }
        const before = await everyId(call, tenant)
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            submit(call, tenant.testKey, { headers, body: { invoice_xml: `<a n="${index}"/>` } })
          )
        )
        const codes = answers.map(codeOf).sort()
        assert.deepStrictEqual(codes, ["201", ...Array<string>(49).fill("idempotency_conflict")])
        assert.strictEqual((await everyId(call, tenant)).length, before.length + 1)
      })
    })

    describe("the invoice", () => {
      const show = (invoiceId: unknown) => call("GET", `/v1/invoices/${String(invoiceId)}`, { auth: tenant.testKey })
      const final = async (scenario: string, isEnough: (invoice: Record<string, unknown>) => boolean) => {
        const { id } = record(await submit(call, tenant.testKey, { headers: { "gov-sandbox-scenario": scenario } }))
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

      it("is rejected, and says why", async () => {
        const invoice = await final("rejected", ({ status }) => status === "rejected")
        assert.propertyVal(invoice["rejection"] as object, "code", "sandbox_rejected")
        assert.deepInclude(invoice, { scenario: "rejected", official_number: null, upo_available: false })
        assert.match(String(invoice["completed_at"]), timestamp)
      })

      it("fails after three attempts, and says why", async () => {
        const invoice = await final("temporary_failure", ({ status }) => status === "failed")
        assert.propertyVal(invoice["failure"] as object, "code", "gateway_unavailable")
        assert.deepInclude(invoice, { attempt_count: 3, submitted_at: null, next_attempt_at: null })
      })

      it("takes its time", async () => {
        const invoice = await final("delayed", ({ status }) => status === "accepted")
        assert.strictEqual(invoice["scenario"], "delayed")
      })

      it("has a receipt to download: the stored bytes, a strong validator, a name", async () => {
        const invoiceId = await accepted()
        const path = `/v1/invoices/${invoiceId}/upo`
        const answer = await call("GET", path, { auth: tenant.testKey })
        assert.strictEqual(answer.headers.get("content-type"), "application/xml")
        assert.include(answer.text, "Potwierdzenie")
        assert.match(answer.text, /sandbox/i)
        const etag = answer.headers.get("etag") ?? ""
        assert.strictEqual(etag, `"${createHash("sha256").update(answer.text).digest("hex")}"`)
        assert.strictEqual(answer.headers.get("content-disposition"), `attachment; filename="upo-${invoiceId}.xml"`)
        assert.strictEqual((await call("GET", path, { auth: tenant.testKey })).text, answer.text)

        for (const value of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
          const unchanged = await call("GET", path, { auth: tenant.testKey, headers: { "if-none-match": value } })
          assert.strictEqual(unchanged.status, 304, value)
          assert.strictEqual(unchanged.headers.get("etag"), etag)
          assert.strictEqual(unchanged.text, "")
        }
        const changed = await call("GET", path, { auth: tenant.testKey, headers: { "if-none-match": '"x"' } })
        assert.strictEqual(changed.status, 200)
      })

      it("has no receipt before it is there, nor ever when it was rejected", async () => {
        const delayed = record(await submit(call, tenant.testKey, { headers: { "gov-sandbox-scenario": "delayed" } }))
        const early = await call("GET", `/v1/invoices/${String(delayed["id"])}/upo`, { auth: tenant.testKey })
        assert.strictEqual(codeOf(early), "upo_not_available")
        const { id } = await final("rejected", ({ status }) => status === "rejected")
        const never = await call("GET", `/v1/invoices/${String(id)}/upo`, { auth: tenant.testKey })
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
          assert.strictEqual(codeOf(await call("GET", path + tail, { auth: tenant.testKey })), "invoice_not_found")
        }
      })
    })

    describe("accounts and logins", () => {
      const login = (email: string, given = password) =>
        call("POST", `${control}/auth/login`, { body: { email, password: given } })
      const refresh = (refresh_token: unknown) => call("POST", `${control}/auth/refresh`, { body: { refresh_token } })

      it("makes an account with exactly the members of the contract, the email in lower case", async () => {
        const email = `Somebody-${randomUUID()}@Example.com`
        const answer = await call("POST", `${control}/accounts`, { body: { email, password } })
        const { created_at, id: accountId, ...rest } = record(answer)
        assert.strictEqual(answer.status, 201)
        assert.match(String(accountId), id("acct"))
        assert.match(String(created_at), timestamp)
        assert.deepStrictEqual(rest, { object: "account", email: email.toLowerCase() })
        const taken = await call("POST", `${control}/accounts`, { body: { email: email.toUpperCase(), password } })
        assert.strictEqual(codeOf(taken), "email_taken")
        assert.strictEqual((await login(email.toUpperCase())).status, 200)
      })

      it("gives an email to one of ten that ask at once", async () => {
        const email = `rush-${randomUUID()}@example.com`
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => call("POST", `${control}/accounts`, { body: { email, password } }))
        )
        assert.deepStrictEqual(answers.map(codeOf).sort(), ["201", ...Array<string>(9).fill("email_taken")])
      })

      it.each([
        ["a password of 11 characters", { email: "a@example.com", password: "p".repeat(11) }, "password"],
        ["a password of 129 characters", { email: "a@example.com", password: "p".repeat(129) }, "password"],
        ["an email without an at", { email: "example.com", password }, "email"],
        ["an email with a NUL", { email: "a\u0000@example.com", password }, "email"],
        ["no email", { password }, "email"],
        ["a password that is a number", { email: "a@example.com", password: 123_456_789_012 }, "password"]
      ])("refuses an account with %s", async (_, body, param) => {
        const answer = await call("POST", `${control}/accounts`, { body })
        assert.strictEqual(codeOf(answer), "invalid_parameter")
        assert.strictEqual(problemOf(answer).param, param)
        assert.notInclude(answer.text, "p".repeat(11))
      })

      it("answers a login with exactly the members of the contract", async () => {
        const { access_token, refresh_token, ...rest } = record(await login(tenant.email))
        assert.deepStrictEqual(rest, { token_type: "Bearer", expires_in: 900, refresh_expires_in: 2_592_000 })
        assert.match(String(refresh_token), /^[A-Za-z0-9_-]{43}$/)
        const [header, claims] = String(access_token)
          .split(".")
          .slice(0, 2)
          .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>)
        assert.strictEqual(header?.["alg"], "HS256")
        assert.strictEqual(claims?.["sub"], tenant.accountId)
        assert.strictEqual(Number(claims?.["exp"]) - Number(claims?.["iat"]), 900)
        for (const name of ["iss", "aud", "jti"]) assert.isString(claims?.[name])
      })

      it("answers the same for a wrong password and for an email that nobody has", async () => {
        const wrong = await login(tenant.email, "not the password at all")
        const nobody = await login(`nobody-${randomUUID()}@example.com`)
        const bare = (answer: Answer) => ({ ...problemOf(answer), request_id: "" })
        assert.strictEqual(codeOf(wrong), "invalid_credentials")
        assert.deepStrictEqual(bare(nobody), bare(wrong))
      })

      it("shows the account of the token", async () => {
        const answer = await call("GET", `${control}/account`, { auth: tenant.token })
        assert.deepInclude(record(answer), { id: tenant.accountId, object: "account", email: tenant.email })
      })

      it("turns refresh tokens over: each is good once, and the new access token works", async () => {
        const first = record(await login(tenant.email))
        const second = record(await refresh(first["refresh_token"]))
        assert.notStrictEqual(second["refresh_token"], first["refresh_token"])
        assert.sameMembers(Object.keys(second), Object.keys(first))
        const auth = String(second["access_token"])
        assert.strictEqual((await call("GET", `${control}/account`, { auth })).status, 200)
      })

      it("ends the whole family when a spent token comes back, also the access tokens", async () => {
        const first = record(await login(tenant.email))
        const second = record(await refresh(first["refresh_token"]))
        const bystander = record(await login(tenant.email))
        assert.strictEqual(codeOf(await refresh(first["refresh_token"])), "invalid_refresh_token")
        assert.strictEqual(codeOf(await refresh(second["refresh_token"])), "invalid_refresh_token")
        for (const { access_token } of [first, second] as ReadonlyArray<Record<string, unknown>>) {
          const answer = await call("GET", `${control}/account`, { auth: String(access_token) })
          assert.strictEqual(codeOf(answer), "missing_access_token")
        }
        assert.strictEqual((await refresh(bystander["refresh_token"])).status, 200, "another login goes on")
      })

      it("lets one of ten refreshes at once have the new token", async () => {
        const first = record(await login(tenant.email))
        const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(first["refresh_token"])))
        assert.isAtMost(answers.filter(({ status }) => status === 200).length, 1)
        assert.isAtLeast(answers.filter((answer) => codeOf(answer) === "invalid_refresh_token").length, 9)
      })

      it.each(["", "x", "\u0000", "a".repeat(512)])("refuses the refresh token %j", async (token) => {
        assert.include(["invalid_refresh_token", "invalid_parameter"], codeOf(await refresh(token)))
      })

      it("logs out with the refresh token alone, as often as asked", async () => {
        const session = record(await login(tenant.email))
        const body = { refresh_token: session["refresh_token"] }
        for (let time = 0; time < 2; time++) {
          assert.strictEqual((await call("POST", `${control}/auth/logout`, { body })).status, 204)
        }
        const answer = await call("GET", `${control}/account`, { auth: String(session["access_token"]) })
        assert.strictEqual(codeOf(answer), "missing_access_token")
        assert.strictEqual(codeOf(await refresh(session["refresh_token"])), "invalid_refresh_token")
        const unknown = await call("POST", `${control}/auth/logout`, { body: { refresh_token: "of nobody" } })
        assert.strictEqual(unknown.status, 204)
      })
    })

    describe("organizations", () => {
      it("are made, renamed and shown with exactly the members of the contract", async () => {
        const auth = tenant.token
        const made = await call("POST", `${control}/organizations`, { auth, body: { name: "Zażółć Sp. z o.o." } })
        const { created_at, id: organizationId, ...rest } = record(made)
        assert.strictEqual(made.status, 201)
        assert.match(String(organizationId), id("org"))
        assert.match(String(created_at), timestamp)
        assert.deepStrictEqual(rest, {
          object: "organization",
          name: "Zażółć Sp. z o.o.",
          gateway_credential: { present: false, updated_at: null }
        })
        const path = `${control}/organizations/${String(organizationId)}`
        const renamed = await call("PATCH", path, { auth, body: { name: "Renamed" } })
        assert.strictEqual(record(renamed)["name"], "Renamed")
        assert.strictEqual(record(await call("PATCH", path, { auth, body: {} }))["name"], "Renamed")
        assert.deepStrictEqual(record(await call("GET", path, { auth })), record(renamed))
      })

      it("keep a credential that nobody can read again", async () => {
        const auth = tenant.token
        const path = `${control}/organizations/${tenant.organizationId}`
        const body = { token: "a token of the national system", context_nip: "5265877635" }
        assert.strictEqual((await call("PUT", `${path}/gateway-credential`, { auth, body })).status, 204)
        const shown = await call("GET", path, { auth })
        assert.notInclude(shown.text, "national")
        assert.notInclude(shown.text, "5265877635")
        const credential = record(shown)["gateway_credential"] as Record<string, unknown>
        assert.isTrue(credential["present"])
        assert.match(String(credential["updated_at"]), timestamp)
        for (let time = 0; time < 2; time++) {
          assert.strictEqual((await call("DELETE", `${path}/gateway-credential`, { auth })).status, 204)
        }
        const gone = record(await call("GET", path, { auth }))["gateway_credential"]
        assert.deepStrictEqual(gone, { present: false, updated_at: null })
      })

      it.each(["526587763", "52658776355", "5265877636", "526587763a", " 5265877635"])(
        "refuse the tax number %j",
        async (context_nip) => {
          const answer = await call("PUT", `${control}/organizations/${tenant.organizationId}/gateway-credential`, {
            auth: tenant.token,
            body: { token: "t", context_nip }
          })
          assert.strictEqual(codeOf(answer), "invalid_parameter")
          assert.strictEqual(problemOf(answer).param, "context_nip")
        }
      )

      it("are at most 100 of an account, also when they are made at once", async () => {
        const { token: auth } = await signUp(call)
        const make = () => call("POST", `${control}/organizations`, { auth, body: { name: "One of many" } })
        const answers = await Promise.all(Array.from({ length: 110 }, make))
        assert.strictEqual(answers.filter(({ status }) => status === 201).length, 99)
        assert.strictEqual(answers.filter((answer) => codeOf(answer) === "limit_reached").length, 11)
      })

      it("have at most 50 active keys, also when they are made at once", async () => {
        const auth = tenant.token
        const { id: organizationId } = record(
          await call("POST", `${control}/organizations`, { auth, body: { name: "Many keys" } })
        )
        const path = `${control}/organizations/${String(organizationId)}/api-keys`
        const make = () => call("POST", path, { auth, body: { mode: "test" } })
        const answers = await Promise.all(Array.from({ length: 60 }, make))
        assert.strictEqual(answers.filter(({ status }) => status === 201).length, 50)
        assert.strictEqual(answers.filter((answer) => codeOf(answer) === "limit_reached").length, 10)
        const some = String(record(answers.find(({ status }) => status === 201)!)["id"])
        await call("DELETE", `${control}/api-keys/${some}`, { auth })
        assert.strictEqual((await make()).status, 201, "one that is revoked makes room")
        assert.strictEqual(codeOf(await make()), "limit_reached")
      })

      it("have at most 20 endpoints, also when they are made at once", async () => {
        const auth = tenant.token
        const { id: organizationId } = record(
          await call("POST", `${control}/organizations`, { auth, body: { name: "Many endpoints" } })
        )
        const path = `${control}/organizations/${String(organizationId)}/webhook-endpoints`
        const make = () =>
          call("POST", path, { auth, body: { url: "https://example.com", event_types: ["invoice.accepted"] } })
        const answers = await Promise.all(Array.from({ length: 30 }, make))
        assert.strictEqual(answers.filter(({ status }) => status === 201).length, 20)
        assert.strictEqual(answers.filter((answer) => codeOf(answer) === "limit_reached").length, 10)
        const some = String(record(answers.find(({ status }) => status === 201)!)["id"])
        await call("DELETE", `${control}/webhook-endpoints/${some}`, { auth })
        assert.strictEqual((await make()).status, 201, "one that is deleted makes room")
      })
    })

    describe("API keys", () => {
      it("show themselves once, with the members of the contract", async () => {
        const expires_at = new Date(Date.now() + 86_400_000).toISOString()
        const answer = await call("POST", `${control}/organizations/${tenant.organizationId}/api-keys`, {
          auth: tenant.token,
          body: { mode: "live", name: "till", expires_at }
        })
        const { created_at, id: keyId, secret, ...rest } = record(answer)
        assert.match(String(keyId), id("key"))
        assert.match(String(created_at), timestamp)
        assert.deepStrictEqual(rest, {
          object: "api_key",
          organization_id: tenant.organizationId,
          mode: "live",
          name: "till",
          last4: String(secret).slice(-4),
          expires_at
        })
      })

      it.each([
        ["no mode", {}, "mode"],
        ["another mode", { mode: "demo" }, "mode"],
        ["a name of 101 characters", { mode: "test", name: "n".repeat(101) }, "name"],
        ["an expiry in the past", { mode: "test", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
        ["an expiry that is no date", { mode: "test", expires_at: "tomorrow" }, "expires_at"],
        ["an expiry on a day that does not exist", { mode: "test", expires_at: "2027-02-30T00:00:00Z" }, "expires_at"]
      ])("are not made with %s", async (_, body, param) => {
        const answer = await call("POST", `${control}/organizations/${tenant.organizationId}/api-keys`, {
          auth: tenant.token,
          body
        })
        assert.strictEqual(codeOf(answer), "invalid_parameter")
        assert.strictEqual(problemOf(answer).param, param)
      })
    })

    describe("webhook endpoints", () => {
      const make = (body: Record<string, unknown>) =>
        call("POST", `${control}/organizations/${other.organizationId}/webhook-endpoints`, { auth: other.token, body })

      it("are made with a secret that is shown once, and the members of the contract", async () => {
        const answer = await make({
          url: "https://example.com/a?b=c",
          event_types: ["invoice.accepted"],
          description: "till"
        })
        const { created_at, id: endpointId, secret, updated_at, ...rest } = record(answer)
        assert.strictEqual(answer.status, 201)
        assert.match(String(endpointId), id("we"))
        assert.match(String(secret), /^whsec_[A-Za-z0-9_-]{43}$/)
        assert.match(String(created_at), timestamp)
        assert.strictEqual(updated_at, created_at)
        assert.deepStrictEqual(rest, {
          object: "webhook_endpoint",
          organization_id: other.organizationId,
          url: "https://example.com/a?b=c",
          description: "till",
          event_types: ["invoice.accepted"],
          enabled: true
        })
        const path = `${control}/webhook-endpoints/${String(endpointId)}`
        const shown = await call("GET", path, { auth: other.token })
        assert.notInclude(shown.text, "secret")
        assert.deepStrictEqual(record(shown), { ...rest, id: endpointId, created_at, updated_at })

        const patched = await call("PATCH", path, {
          auth: other.token,
          body: { enabled: false, description: null, event_types: ["*"], url: "https://example.org:8443/" }
        })
        assert.deepInclude(record(patched), {
          enabled: false,
          description: null,
          event_types: ["*"],
          url: "https://example.org:8443/"
        })
        assert.isAtLeast(Date.parse(String(record(patched)["updated_at"])), Date.parse(String(created_at)))

        assert.strictEqual((await call("DELETE", path, { auth: other.token })).status, 204)
        for (const method of ["GET", "DELETE"]) {
          assert.strictEqual(codeOf(await call(method, path, { auth: other.token })), "webhook_endpoint_not_found")
        }
        const deliveries = await call("GET", `${path}/deliveries`, { auth: other.token })
        assert.strictEqual(codeOf(deliveries), "webhook_endpoint_not_found")
      })

      it.each([
        "",
        "example.com",
        "ftp://example.com",
        "http://example.com",
        "https://user:pass@example.com",
        "https://127.0.0.1",
        "https://[::1]/",
        "https://10.0.0.1",
        "https://169.254.169.254/latest",
        "https://localhost",
        "https://0x7f.1",
        "https://2130706433/",
        "https://[::ffff:10.0.0.1]",
        "https://",
        "javascript:alert(1)",
        "https://exa mple.com"
      ])("are not made for the URL %j", async (url) => {
        const answer = await make({ url, event_types: ["*"] })
        assert.strictEqual(codeOf(answer), "unsafe_webhook_url")
        const patched = await call("PATCH", `${control}/webhook-endpoints/${other.endpointId}`, {
          auth: other.token,
          body: { url }
        })
        assert.strictEqual(codeOf(patched), "unsafe_webhook_url")
      })

      it.each([
        ["no event types", { event_types: [] }],
        ["an event type that nobody knows", { event_types: ["invoice.lost"] }],
        ["all event types and one more", { event_types: ["*", "invoice.accepted"] }],
        ["an event type twice", { event_types: ["invoice.accepted", "invoice.accepted"] }],
        ["event types that are text", { event_types: "*" }]
      ])("are not made with %s", async (_, body) => {
        const answer = await make({ url: "https://example.com", ...body })
        assert.strictEqual(codeOf(answer), "invalid_parameter")
        assert.strictEqual(problemOf(answer).param, "event_types")
      })

      it("rotate their secret, at once or later, and a second rotation replaces the first", async () => {
        const made = record(await make({ url: "https://example.com", event_types: ["*"] }))
        const path = `${control}/webhook-endpoints/${String(made["id"])}/rotate-secret`
        const rotate = (body: Record<string, unknown>) => call("POST", path, { auth: other.token, body })
        const now = record(await rotate({}))
        const later = record(await rotate({ activates_in_seconds: 604_800 }))
        assert.isAtMost(Date.parse(String(now["secret_activates_at"])), Date.now())
        const wait = Date.parse(String(later["secret_activates_at"])) - Date.now()
        assert.isTrue(wait > 604_700_000 && wait <= 604_800_000)
        const secrets = [made, now, later].map(({ secret }) => secret)
        assert.strictEqual(new Set(secrets).size, 3)
        for (const wrong of [-1, 604_801, 1.5, "1"]) {
          const answer = await rotate({ activates_in_seconds: wrong })
          assert.strictEqual(codeOf(answer), "invalid_parameter", String(wrong))
        }
      })

      it("show what became of deliveries: disabled ones are not sent", async () => {
        const made = record(
          await make({ url: "https://example.com", event_types: ["invoice.received"], enabled: false })
        )
        const path = `${control}/webhook-endpoints/${String(made["id"])}`
        await submit(call, other.testKey)
        const none = await call("GET", `${path}/deliveries`, { auth: other.token })
        assert.deepStrictEqual(record(none), { object: "list", data: [], has_more: false, next_cursor: null })
      })

      it("show records with exactly the members of the specification", async () => {
        const made = record(await make({ url: "https://nowhere.invalid/", event_types: ["invoice.received"] }))
        const path = `${control}/webhook-endpoints/${String(made["id"])}/deliveries`
        await submit(call, other.testKey)
        const answer = await until(
          () => call("GET", path, { auth: other.token }),
          (answer) => data(answer)[0]?.["status"] === "retrying"
        )
        const [delivery] = data(answer)
        assert.match(String(delivery?.["id"]), id("wd"))
        assert.match(String(delivery?.["event_id"]), id("evt"))
        for (const name of ["created_at", "updated_at", "last_attempted_at", "next_retry_at"]) {
          assert.match(String(delivery?.[name]), timestamp, name)
        }
        assert.deepInclude(delivery, {
          object: "webhook_delivery",
          event_type: "invoice.received",
          endpoint_id: made["id"],
          attempt_count: 1,
          last_http_status: null,
          delivered_at: null
        })
        assert.isString(delivery?.["last_error_summary"])
        assert.lengthOf(Object.keys(delivery ?? {}), 14)
        const eventId = String(delivery?.["event_id"])
        const found = await call("GET", `${path}?event_id=${eventId}&status=retrying`, { auth: other.token })
        assert.lengthOf(data(found), 1)
        const elsewhere = await call("GET", `${path}?event_id=evt_x`, { auth: other.token })
        assert.lengthOf(data(elsewhere), 0)
        assert.lengthOf(data(await call("GET", `${path}?status=succeeded`, { auth: other.token })), 0)
        await call("DELETE", `${control}/webhook-endpoints/${String(made["id"])}`, { auth: other.token })
      })
    })

    describe("lists", () => {
      it("go through every record once, newest first, whatever the size of the pages", async () => {
        const reader = await signUp(call)
        const made: Array<string> = []
        for (let time = 0; time < 7; time++) made.push(String(record(await submit(call, reader.testKey))["id"]))
        for (const limit of [1, 2, 3, 7, 8, 100]) {
          const seen: Array<string> = []
          let cursor = ""
          for (let page = 0; page < 10; page++) {
            const query = `limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`
            const answer = record(
              await call("GET", `${control}/organizations/${reader.organizationId}/invoices?${query}`, {
                auth: reader.token
              })
            )
            const records = answer["data"] as ReadonlyArray<{ readonly id: string }>
            seen.push(...records.map(({ id }) => id))
            assert.strictEqual(answer["has_more"], answer["next_cursor"] !== null)
            if (answer["next_cursor"] === null) break
            assert.lengthOf(records, limit)
            cursor = answer["next_cursor"] as string
          }
          assert.deepStrictEqual(seen, made.toReversed())
        }
      })

      it("filter invoices by status and mode", async () => {
        const reader = await signUp(call)
        await submit(call, reader.testKey)
        const list = (query: string) =>
          call("GET", `${control}/organizations/${reader.organizationId}/invoices?${query}`, { auth: reader.token })
        assert.lengthOf(data(await list("mode=live")), 0)
        assert.lengthOf(data(await list("mode=test")), 1)
        await until(
          () => list("status=accepted&mode=test"),
          (answer) => data(answer).length === 1
        )
        assert.lengthOf(data(await list("status=rejected")), 0)
      })

      it("refuse what is not theirs: limits, cursors and parameters", async () => {
        for (const operation of operationsOf(tenant, "inv_x").filter(({ isList }) => isList)) {
          const ask = (query: string) => call("GET", `${operation.path}?${query}`, { auth: tenant.token })
          for (const query of [
            "limit=0",
            "limit=101",
            "limit=1e1",
            "limit=",
            "limit=-1",
            "limit=1&limit=2",
            "limit=%00"
          ]) {
            const answer = await ask(query)
            assert.strictEqual(codeOf(answer), "invalid_parameter", `${operation.id} ${query}`)
            assert.strictEqual(problemOf(answer).param, "limit")
          }
          for (const query of [
            "cursor=",
            "cursor=x",
            "cursor=%00",
            `cursor=${"A".repeat(4000)}`,
            "cursor=a&cursor=b"
          ]) {
            const answer = await ask(query)
            assert.strictEqual(codeOf(answer), "invalid_parameter", `${operation.id} ${query}`)
            assert.strictEqual(problemOf(answer).param, "cursor")
          }
          for (const query of ["page=1", "Limit=1", "__proto__=1", "constructor=1"]) {
            const answer = await ask(query)
            assert.strictEqual(codeOf(answer), "unknown_parameter", `${operation.id} ${query}`)
          }
        }
      })

      it("refuse filters that nothing can match, and name them", async () => {
        const invoices = `${control}/organizations/${tenant.organizationId}/invoices`
        const deliveries = `${control}/webhook-endpoints/${tenant.endpointId}/deliveries`
        const wrong: ReadonlyArray<readonly [string, string, string]> = [
          [invoices, "status", "status=done"],
          [invoices, "status", "status="],
          [invoices, "status", "status=Accepted"],
          [invoices, "status", "status=accepted,failed"],
          [invoices, "status", "status=accepted&status=failed"],
          [invoices, "mode", "mode=demo"],
          [invoices, "mode", "mode="],
          [invoices, "mode", "mode=test&mode=live"],
          [deliveries, "status", "status=accepted"],
          [deliveries, "status", "status="],
          [deliveries, "event_id", "event_id="],
          [deliveries, "event_id", "event_id=evt_a&event_id=evt_b"]
        ]
        for (const [path, param, query] of wrong) {
          const answer = await call("GET", `${path}?${query}`, { auth: tenant.token })
          assert.strictEqual(codeOf(answer), "invalid_parameter", query)
          assert.strictEqual(problemOf(answer).param, param)
        }
        for (const status of ["queued", "submitting", "retrying", "submitted", "accepted", "rejected", "failed"]) {
          assert.strictEqual((await call("GET", `${invoices}?status=${status}`, { auth: tenant.token })).status, 200)
        }
        for (const status of ["pending", "delivering", "succeeded", "retrying", "failed", "endpoint_disabled"]) {
          assert.strictEqual((await call("GET", `${deliveries}?status=${status}`, { auth: tenant.token })).status, 200)
        }
      })

      it("have 50 records where no limit is given", async () => {
        const reader = await signUp(call)
        await Promise.all(Array.from({ length: 51 }, () => submit(call, reader.testKey)))
        const path = `${control}/organizations/${reader.organizationId}/invoices`
        const first = await call("GET", path, { auth: reader.token })
        assert.lengthOf(data(first), 50)
        assert.isTrue(record(first)["has_more"])
        const rest = await call("GET", `${path}?cursor=${String(record(first)["next_cursor"])}`, { auth: reader.token })
        assert.lengthOf(data(rest), 1)
        assert.deepInclude(record(rest), { has_more: false, next_cursor: null })
      })

      it("continue for nobody else, with no other filter, and not from a changed cursor", async () => {
        for (let time = 0; time < 3; time++) {
          for (const { testKey } of [tenant, other]) await submit(call, testKey)
        }
        const path = `${control}/organizations/${tenant.organizationId}/invoices`
        const cursor = String(record(await call("GET", `${path}?limit=1`, { auth: tenant.token }))["next_cursor"])
        const codes = [
          await call("GET", `${path}?limit=2&cursor=${cursor}`, { auth: tenant.token }),
          await call("GET", `${path}?cursor=${cursor}&mode=test`, { auth: tenant.token }),
          await call("GET", `${path}?cursor=${flip(cursor)}`, { auth: tenant.token }),
          await call("GET", `${path}?cursor=${cursor}A`, { auth: tenant.token }),
          await call("GET", `${path.replace(tenant.organizationId, other.organizationId)}?cursor=${cursor}`, {
            auth: other.token
          }),
          await call("GET", `${control}/organizations?cursor=${cursor}`, { auth: tenant.token })
        ].map(codeOf)
        assert.deepStrictEqual(codes, ["200", ...Array<string>(5).fill("invalid_parameter")])
      })
    })

    describe("tenancy", () => {
      it("hides everything from everybody else, and changes nothing", async () => {
        const victim = await signUp(call)
        const invoiceId = await accepted(victim.testKey)
        const snapshot = async () =>
          Promise.all(
            operationsOf(victim, invoiceId)
              .filter(({ id, method }) => method === "GET" && id !== "organizations.list")
              .map(async (operation) => {
                const answer = await call(
                  "GET",
                  operation.path,
                  optionsOf(operation, { key: victim.testKey, token: victim.token })
                )
                return [operation.id, answer.status, answer.text]
              })
          )
        const before = await snapshot()
        let walked = 0
        for (const operation of operationsOf(victim, invoiceId)) {
          if (operation.absent === undefined) continue
          walked++
          const options = optionsOf(operation, { key: other.testKey, token: other.token })
          const answer = await call(operation.method, operation.path, options)
          assert.strictEqual(codeOf(answer), operation.absent, operation.id)
          assert.notInclude(answer.text, victim.organizationId)
        }
        assert.strictEqual(walked, 18)
        for (const path of [`/v1/invoices/${invoiceId}`, `/v1/invoices/${invoiceId}/upo`]) {
          const answer = await call("GET", path, { auth: victim.liveKey })
          assert.strictEqual(codeOf(answer), "invoice_not_found", "the other mode is somebody else")
        }
        assert.deepStrictEqual(await snapshot(), before)
      })

      it("lists nobody else's organizations", async () => {
        const ids = data(await call("GET", `${control}/organizations?limit=100`, { auth: other.token })).map(
          ({ id }) => id
        )
        assert.include(ids, other.organizationId)
        assert.notInclude(ids, tenant.organizationId)
      })
    })

    describe("every operation", () => {
      it("takes the request that it is made for", async () => {
        const fresh = await signUp(call)
        const invoiceId = await accepted(fresh.testKey)
        for (const operation of operationsOf(fresh, invoiceId)) {
          if (operation.id === "apiKeys.revoke" || operation.id === "webhookEndpoints.delete") continue
          const answer = await call(
            operation.method,
            operation.path,
            optionsOf(operation, { key: fresh.testKey, token: fresh.token })
          )
          assert.isBelow(answer.status, 300, `${operation.id} ${answer.text}`)
        }
      })

      const withBody = (): ReturnType<typeof operationsOf> =>
        operationsOf(tenant, "inv_x").filter(({ body }) => body !== undefined)

      const broken: ReadonlyArray<
        readonly [string, { raw?: string | Uint8Array; headers?: Record<string, string> }, string]
      > = [
        ["text that is not JSON", { raw: "{" }, "invalid_request_body"],
        ["nothing", { raw: "" }, "invalid_request_body"],
        ["a list", { raw: "[]" }, "invalid_request_body"],
        ["null", { raw: "null" }, "invalid_request_body"],
        ["text after the object", { raw: "{} {}" }, "invalid_request_body"],
        [
          "bytes that are not UTF-8",
          { raw: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d) },
          "invalid_request_body"
        ],
        ["UTF-16", { raw: Buffer.from("{}", "utf16le") }, "invalid_request_body"],
        ["brackets ten thousand deep", { raw: `{"a":${"[".repeat(10_000)}` }, "invalid_request_body"],
        ["another type", { raw: "{}", headers: { "content-type": "text/plain" } }, "unsupported_media_type"],
        [
          "a type that ends with +json",
          { raw: "{}", headers: { "content-type": "application/problem+json" } },
          "unsupported_media_type"
        ],
        [
          "another charset",
          { raw: "{}", headers: { "content-type": "application/json; charset=latin1" } },
          "unsupported_media_type"
        ],
        ["an empty type", { raw: "{}", headers: { "content-type": "" } }, "unsupported_media_type"],
        ["a compressed body", { raw: "{}", headers: { "content-encoding": "gzip" } }, "unsupported_media_type"],
        ["5 MiB", { raw: Buffer.alloc(5 * 1024 * 1024, " ") }, "request_too_large"]
      ]

      it.each(broken)("refuses %s", async (_, options, code) => {
        for (const operation of withBody()) {
          const { auth, headers } = optionsOf(operation, { key: tenant.testKey, token: tenant.token })
          const answer = await call(operation.method, operation.path, {
            auth,
            ...options,
            headers: { ...headers, ...options.headers }
          })
          assert.strictEqual(codeOf(answer), code, operation.id)
          if (operation.auth === "key") assert.isNotNull(answer.headers.get("ratelimit"))
        }
      })

      it("takes the charset in any letter case and a byte order mark", async () => {
        const answer = await submit(call, tenant.testKey, {
          raw: `\uFEFF${JSON.stringify({ invoice_xml: xml })}`,
          headers: { "content-type": 'Application/JSON; Charset="UTF-8"' }
        })
        assert.strictEqual(answer.status, 201)
      })

      it.each(["typo", "__proto__", "constructor", "toString", "", "a".repeat(3000), "\u0000"])(
        "refuses a member named %j",
        async (name) => {
          for (const operation of withBody()) {
            const { auth, headers } = optionsOf(operation, { key: tenant.testKey, token: tenant.token })
            const body = JSON.stringify(operation.body)
            const raw = `${body.slice(0, -1)}${body === "{}" ? "" : ","}${JSON.stringify(name)}:1}`
            const answer = await call(operation.method, operation.path, { auth, headers, raw })
            assert.strictEqual(codeOf(answer), "unknown_parameter", operation.id)
            assert.isAtMost((problemOf(answer).param ?? "").length, 65)
          }
        }
      )

      it("refuses members of the wrong type, and names them", async () => {
        for (const operation of withBody()) {
          for (const name of Object.keys(operation.body ?? {})) {
            const { auth, headers } = optionsOf(operation, { key: tenant.testKey, token: tenant.token })
            const body = { ...operation.body, [name]: { wrong: true } }
            const answer = await call(operation.method, operation.path, { auth, headers, body })
            const expected = name === "invoice_xml" ? "invalid_invoice_xml" : "invalid_parameter"
            assert.strictEqual(codeOf(answer), expected, `${operation.id} ${name}`)
            assert.strictEqual(problemOf(answer).param, name)
          }
        }
      })

      it("refuses brackets a million deep in the body of a submission", async () => {
        const answer = await submit(call, tenant.testKey, { raw: `{"a":${"[".repeat(1_000_000)}` })
        assert.strictEqual(codeOf(answer), "invalid_request_body")
      })

      it("refuses deeply nested values like any other wrong value", async () => {
        for (const operation of withBody()) {
          // As deep as the limit of the body permits: 16 KiB without a credential, 256 KiB in the rest of the control plane.
          const levels = operation.auth === "key" ? 100_000 : operation.auth === "token" ? 30_000 : 2_000
          const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`
          const nested = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`
          const { auth, headers } = optionsOf(operation, { key: tenant.testKey, token: tenant.token })
          const ask = (name: string, value: string) => {
            const { [name]: _, ...rest } = operation.body ?? {}
            const body = JSON.stringify(rest)
            const raw = `${body.slice(0, -1)}${body === "{}" ? "" : ","}${JSON.stringify(name)}:${value}}`
            return call(operation.method, operation.path, { auth, headers, raw })
          }
          for (const value of [deep, nested]) {
            assert.strictEqual(codeOf(await ask("typo", value)), "unknown_parameter", operation.id)
            for (const name of Object.keys(operation.body ?? {})) {
              const expected = name === "invoice_xml" ? "invalid_invoice_xml" : "invalid_parameter"
              assert.strictEqual(codeOf(await ask(name, value)), expected, `${operation.id} ${name}`)
            }
          }
        }
        for (const value of [
          `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
          `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`
        ]) {
          const raw = `{"invoice_xml":"<a/>","metadata":{"a":${value}}}`
          assert.strictEqual(codeOf(await submit(call, tenant.testKey, { raw })), "invalid_metadata")
        }
      })

      it("answers unknown methods with 405 and OPTIONS with 204, and says what there is", async () => {
        const paths = new Map<string, Set<string>>()
        for (const { method, path } of operationsOf(tenant, "inv_x")) {
          paths.set(path, (paths.get(path) ?? new Set()).add(method))
        }
        for (const [path, methods] of paths) {
          const allow = [...methods, ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].sort().join(", ")
          const options = await call("OPTIONS", path)
          assert.strictEqual(options.status, 204)
          assert.strictEqual(options.headers.get("allow"), allow)
          for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
            if (methods.has(method)) continue
            const answer = await call(method, path)
            assert.strictEqual(codeOf(answer), "method_not_allowed", `${method} ${path}`)
            assert.strictEqual(answer.headers.get("allow"), allow)
          }
        }
      })

      it("answers HEAD like GET, without a body", async () => {
        const fresh = await signUp(call)
        const invoiceId = await accepted(fresh.testKey)
        let walked = 0
        for (const operation of operationsOf(fresh, invoiceId)) {
          if (operation.method !== "GET") continue
          walked++
          const options = optionsOf(operation, { key: fresh.testKey, token: fresh.token })
          const full = await call("GET", operation.path, options)
          const bare = await call("HEAD", operation.path, options)
          assert.strictEqual(bare.status, 200, operation.id)
          assert.strictEqual(bare.text, "")
          for (const name of ["content-type", "etag", "content-disposition", "cache-control", "ratelimit-policy"]) {
            assert.strictEqual(bare.headers.get(name), full.headers.get(name), `${operation.id} ${name}`)
          }
          assert.strictEqual(Number(bare.headers.get("content-length")), Buffer.byteLength(full.text), operation.id)
        }
        assert.strictEqual(walked, 12)
      })

      it.each(["a\u0000b", "a\ud800b", "\udc00"])("refuses the text %j, which cannot be stored", async (text) => {
        for (const operation of withBody()) {
          for (const [name, value] of Object.entries(operation.body ?? {})) {
            if (typeof value !== "string") continue
            const { auth, headers } = optionsOf(operation, { key: tenant.testKey, token: tenant.token })
            const body = { ...operation.body, [name]: value + text }
            const answer = await call(operation.method, operation.path, { auth, headers, body })
            const expected = name === "invoice_xml" ? "invalid_invoice_xml" : "invalid_parameter"
            assert.strictEqual(codeOf(answer), expected, `${operation.id} ${name}`)
            assert.strictEqual(problemOf(answer).param, name)
          }
        }
      })

      it("is kept by nobody on the way", async () => {
        const answer = await call("GET", "/v1/me", { auth: tenant.testKey })
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      })
    })

    describe("paths outside the API", () => {
      it("show where things are, and that the server lives and can work", async () => {
        const root = await call("GET", "/")
        assert.deepInclude(record(root), { docs: "/docs", openapi: "/openapi.json" })
        assert.deepStrictEqual(record(await call("GET", "/healthz")), { status: "ok" })
        assert.deepStrictEqual(record(await call("GET", "/readyz")), { status: "ready", checks: { database: "ok" } })
        assert.match((await call("GET", "/docs")).headers.get("content-type") ?? "", /^text\/html/)
      })

      it("serve a page about each error code", async () => {
        for (const code of Object.keys(catalog)) {
          const page = await call("GET", `/docs/errors/${code}`)
          assert.strictEqual(page.status, 200, code)
          assert.strictEqual(page.headers.get("content-type"), "text/plain; charset=utf-8")
          assert.match(page.text, new RegExp(`^# \`${code}\`\n[^]*\n## What to do\n`))
        }
        for (const path of ["/docs/errors/nope", "/docs/errors/toString", "/docs/errors/", "/docs/errors"]) {
          assert.strictEqual(codeOf(await call("GET", path)), "not_found", path)
        }
      })

      it.each([
        "/nope",
        "/v1",
        "/v1/",
        "/v1/nope",
        "/v2/me",
        "/v1/me/",
        "//v1/me",
        "/v1//me",
        "/V1/me",
        "/v1/me;a=b",
        "/v1/events",
        "/v1/control-plane",
        "/metrics",
        "/v1/..%2fhealthz"
      ])("answer not_found at %s", async (path) => {
        for (const method of ["GET", "POST", "OPTIONS"]) {
          assert.strictEqual(codeOf(await call(method, path)), "not_found", method)
        }
      })

      it.each(["/v1/invoices/%", "/v1/invoices/%zz", "/%c3%28", "/%"])(
        "answer malformed_request at %s",
        async (path) => {
          assert.strictEqual(codeOf(await call("GET", path)), "malformed_request")
        }
      )
    })
  })
}

describe("deployments that are closed or crowded", () => {
  let database: TestDatabase
  let servers: ReadonlyArray<Server> = []
  let tenant: Tenant
  let agreement: Agreement
  const callOf = (server: Server | undefined): Call => makeCall(() => server!.url, agreement)

  beforeAll(async () => {
    database = await databases[0].open()
    const all = { ...database.settings, GOVOICE_ROLE: "api" }
    const open = await startServer(all)
    servers = [open]
    agreement = await readAgreement(open.url)
    accounts.push(agreement)
    tenant = await signUp(callOf(open))
    servers = [
      open,
      ...(await Promise.all([
        startServer({ ...all, GOVOICE_API_ENABLED: "false" }),
        startServer({ ...all, GOVOICE_SIGNUP: "closed" }),
        startServer({ ...all, GOVOICE_RATE_LIMIT_PER_SECOND: "1", GOVOICE_RATE_LIMIT_BURST: "3" }),
        startServer({ ...all, GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: "http://127.0.0.1:9/v2" })
      ]))
    ]
  })

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    await database?.drop()
  })

  it("answer api_disabled on every path below /v1, before they look at anything else", async () => {
    const call = callOf(servers[1])
    for (const operation of operationsOf(tenant, "inv_x")) {
      const answer = await call(operation.method, operation.path, {
        raw: operation.body === undefined ? undefined : "{"
      } as object)
      assert.strictEqual(codeOf(answer), "api_disabled", operation.id)
    }
    for (const path of ["/v1", "/v1/nope", "/%76%31/me", "/v1/me;x"]) {
      assert.strictEqual(codeOf(await call("GET", path)), "api_disabled", path)
    }
    assert.strictEqual(codeOf(await call("DELETE", "/v1/me")), "api_disabled")
    assert.strictEqual((await call("GET", "/healthz")).status, 200)
  })

  it("answer signup_disabled to new accounts, and log in those who have one", async () => {
    const call = callOf(servers[2])
    const body = { email: "late@example.com", password }
    assert.strictEqual(codeOf(await call("POST", `${control}/accounts`, { body })), "signup_disabled")
    const login = await call("POST", `${control}/auth/login`, { body: { email: tenant.email, password } })
    assert.strictEqual(login.status, 200)
  })

  it("say on every answer what is left of the limit, refuse what is beyond it, and let go on after Retry-After", async () => {
    const call = callOf(servers[3])
    const answers: Array<Answer> = []
    for (let time = 0; time < 4; time++) answers.push(await call("GET", "/v1/me", { auth: tenant.testKey }))
    assert.deepStrictEqual(answers.map(codeOf), ["200", "200", "200", "rate_limit_exceeded"])
    for (const answer of answers) {
      assert.strictEqual(answer.headers.get("ratelimit-policy"), '"default";q=3;w=3')
      assert.match(answer.headers.get("ratelimit") ?? "", /^"default";r=\d+;t=\d+$/)
    }
    assert.deepStrictEqual(
      answers.map((answer) => /r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]),
      ["2", "1", "0", "0"]
    )
    // The limit stands before headers and body, and belongs to one key.
    for (const operation of operationsOf(tenant, "inv_x").filter(({ auth }) => auth === "key")) {
      const answer = await until(
        () => call(operation.method, operation.path, { auth: tenant.testKey, raw: operation.body && "{" } as object),
        (answer) => codeOf(answer) === "rate_limit_exceeded"
      )
      assert.strictEqual(problemOf(answer).retryable, true)
    }
    assert.strictEqual((await call("GET", "/v1/me", { auth: tenant.liveKey })).status, 200)
    const refused = await until(
      () => call("GET", "/v1/me", { auth: tenant.testKey }),
      (answer) => codeOf(answer) === "rate_limit_exceeded"
    )
    await new Promise((resolve) => setTimeout(resolve, Number(refused.headers.get("retry-after")) * 1000))
    assert.strictEqual((await call("GET", "/v1/me", { auth: tenant.testKey })).status, 200)
  })

  it("stop guessing at 20 failures of an email in a minute, whoever asks at once, and let others log in", async () => {
    const call = callOf(servers[0])
    const victim = await signUp(call)
    const login = (email: string, given: string) =>
      call("POST", `${control}/auth/login`, { body: { email, password: given } })
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        login(index % 2 === 0 ? victim.email : victim.email.toUpperCase(), "not the password")
      )
    )
    const codes = answers.map(codeOf)
    assert.strictEqual(codes.filter((code) => code === "invalid_credentials").length, 20)
    assert.strictEqual(codes.filter((code) => code === "rate_limit_exceeded").length, 10)
    const right = await login(victim.email, password)
    assert.strictEqual(codeOf(right), "rate_limit_exceeded", "not even a right password is confirmed")
    assert.isAtMost(Number(right.headers.get("retry-after")), 60)
    assert.strictEqual((await login(tenant.email, password)).status, 200)
  })

  it("stop an address at 100 logins, refreshes, logouts or accounts in a minute, each for itself, whatever headers say", async () => {
    const call = callOf(servers[2])
    const flood = async (path: string, body: object) => {
      for (let time = 0; time < 110; time++) {
        const headers = { "x-forwarded-for": `192.0.2.${time}`, forwarded: `for=192.0.2.${time}` }
        const answer = await call("POST", path, { body, headers })
        if (codeOf(answer) === "rate_limit_exceeded") return time
      }
      return Infinity
    }
    assert.strictEqual(await flood(`${control}/auth/refresh`, { refresh_token: "of nobody" }), 100)
    assert.strictEqual(await flood(`${control}/auth/logout`, { refresh_token: "of nobody" }), 100)
    const open = callOf(servers[0])
    const taken = { email: tenant.email, password }
    const floodAccounts = Array.from({ length: 10 }, async () => {
      for (let time = 0; time < 12; time++) {
        const answer = await open("POST", `${control}/accounts`, { body: taken })
        if (codeOf(answer) === "rate_limit_exceeded") return true
      }
      return false
    })
    assert.include(await Promise.all(floodAccounts), true)
    const floodLogins = Array.from({ length: 10 }, async () => {
      for (let time = 0; time < 12; time++) {
        const answer = await open("POST", `${control}/auth/login`, { body: taken })
        if (codeOf(answer) === "rate_limit_exceeded") return true
      }
      return false
    })
    assert.include(await Promise.all(floodLogins), true)
  })

  it("make one invoice of 50 duplicates that reach two processes at once", async () => {
    const calls = [callOf(servers[0]), callOf(servers[2])]
    const headers = { "idempotency-key": randomUUID() }
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => submit(calls[index % 2]!, tenant.testKey, { headers }))
    )
    assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
    const first = answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)
    assert.lengthOf(first, 1)
  })

  it("answer live_mode_unavailable to live keys with live mode on and a credential stored: no gateway is installed", async () => {
    const call = callOf(servers[4])
    const fresh = await signUp(call)
    const stored = await call("PUT", `${control}/organizations/${fresh.organizationId}/gateway-credential`, {
      auth: fresh.token,
      body: { token: "a token of the national system", context_nip: "5265877635" }
    })
    assert.strictEqual(stored.status, 204)
    assert.strictEqual(record(await call("GET", "/v1/me", { auth: fresh.liveKey }))["live_mode_available"], false)
    assert.strictEqual(codeOf(await submit(call, fresh.liveKey)), "live_mode_unavailable")
    assert.deepStrictEqual(await everyId(call, fresh), [])
  })

  it("take a revocation to heart within ten seconds in every process", async () => {
    const [here, , elsewhere] = servers
    const there = callOf(elsewhere)
    const fresh = await until(
      () => callOf(servers[0])("GET", `${control}/account`, { auth: tenant.token }),
      ({ status }) => status === 200
    )
    assert.strictEqual(fresh.status, 200)
    const made = record(
      await callOf(here)("POST", `${control}/organizations/${tenant.organizationId}/api-keys`, {
        auth: tenant.token,
        body: { mode: "test" }
      })
    )
    const auth = String(made["secret"])
    assert.strictEqual((await there("GET", "/v1/me", { auth })).status, 200)
    await callOf(here)("DELETE", `${control}/api-keys/${String(made["id"])}`, { auth: tenant.token })
    await until(
      () => there("GET", "/v1/me", { auth }),
      (answer) => codeOf(answer) === "missing_api_key",
      10_000
    )
  })
})

describe("a server that loses its database", () => {
  let database: Awaited<ReturnType<typeof create>>
  let proxy: Awaited<ReturnType<typeof startProxy>>
  let server: Server
  let agreement: Agreement
  let call: Call
  let tenant: Tenant
  let invoiceId: string

  beforeAll(async () => {
    database = await create()
    proxy = await startProxy(database.url)
    server = await startServer({ DATABASE_URL: proxy.url, ...secrets })
    agreement = await readAgreement(server.url)
    accounts.push(agreement)
    call = makeCall(() => server.url, agreement)
    tenant = await signUp(call)
    invoiceId = String(record(await submit(call, tenant.testKey))["id"])
  })

  afterAll(async () => {
    await server?.stop()
    proxy?.close()
    await database?.drop()
  })

  const everyOperation = () =>
    Promise.all(
      operationsOf(tenant, invoiceId).map(async (operation) => {
        const options = optionsOf(operation, { key: tenant.testKey, token: tenant.token })
        return { id: operation.id, answer: await call(operation.method, operation.path, options) }
      })
    )

  it("answers service_unavailable everywhere while it is away, lives on, and works again as soon as it is back", async () => {
    proxy.cut()
    for (const { answer, id } of await everyOperation()) assert.strictEqual(codeOf(answer), "service_unavailable", id)
    // Who is calling is remembered for five seconds. From then on not even that can be looked up.
    await new Promise((resolve) => setTimeout(resolve, 5200))
    for (const { answer, id } of await everyOperation()) assert.strictEqual(codeOf(answer), "service_unavailable", id)
    const ready = await call("GET", "/readyz")
    assert.strictEqual(codeOf(ready), "service_unavailable")
    assert.include(problemOf(ready).message, "cannot be reached")
    assert.lengthOf(server.output().match(/Database unavailable/g) ?? [], 1, "not once for every request")
    assert.strictEqual((await call("GET", "/healthz")).status, 200)

    proxy.open()
    const back = Date.now()
    await until(
      () => submit(call, tenant.testKey),
      ({ status }) => status === 201
    )
    assert.isBelow(Date.now() - back, 2000)
    assert.lengthOf(server.output().match(/Database available again/g) ?? [], 1)
    assert.strictEqual((await call("GET", `${control}/account`, { auth: tenant.token })).status, 200)
    await until(
      () => call("GET", "/readyz"),
      ({ status }) => status === 200
    )
  })

  it("keeps no request forever when it hangs, and works again when it is back", async () => {
    await Promise.all(
      Array.from({ length: 5 }, () => call("GET", `/v1/invoices/${invoiceId}`, { auth: tenant.testKey }))
    )
    // So that the workers have something under way as well.
    await Promise.all(Array.from({ length: 50 }, () => submit(call, tenant.testKey)))
    proxy.hold()
    const begun = Date.now()
    const answers = await Promise.all([
      // One after the other, so that more of them are under way than are written at once.
      ...Array.from({ length: 8 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 50))
        return submit(call, tenant.testKey)
      }),
      call("GET", `/v1/invoices/${invoiceId}`, { auth: tenant.testKey }),
      call("GET", `${control}/organizations`, { auth: tenant.token })
    ])
    assert.deepStrictEqual(answers.map(codeOf), Array<string>(10).fill("service_unavailable"))
    assert.isBelow(Date.now() - begun, 30_000)
    const asked = Date.now()
    assert.strictEqual((await fetch(`${server.url}/readyz`)).status, 503)
    assert.isBelow(Date.now() - asked, 4000)
    // The connections that were in use stay as they are: nobody ends them but the server itself.
    proxy.pass()
    const taken = await until(
      () => submit(call, tenant.testKey),
      ({ status }) => status === 201,
      30_000
    )
    await until(
      () => call("GET", taken.headers.get("location")!, { auth: tenant.testKey }),
      (answer) => record(answer)["status"] === "accepted",
      60_000
    )
  }, 120_000)

  it("gives up on a statement that waits for a lock, and on nothing else", async () => {
    const blocker = database.run(`
      WITH locked AS (SELECT 1 FROM organizations WHERE id = '${tenant.organizationId}' FOR UPDATE)
      SELECT pg_sleep(13) FROM locked
    `)
    await new Promise((resolve) => setTimeout(resolve, 500))
    const path = `${control}/organizations/${tenant.organizationId}`
    const blocked = call("PATCH", path, { auth: tenant.token, body: { name: "Blocked" } })
    assert.strictEqual((await call("GET", path, { auth: tenant.token })).status, 200)
    assert.strictEqual(codeOf(await blocked), "service_unavailable")
    await blocker
    assert.strictEqual(record(await call("GET", path, { auth: tenant.token }))["name"], "Example")
  })

  it("is not ready for a schema that is older than itself", async () => {
    await database.run("UPDATE schema_migrations SET migration_id = migration_id - 1000")
    const answer = await until(
      () => call("GET", "/readyz"),
      ({ status }) => status !== 200
    )
    assert.strictEqual(codeOf(answer), "service_unavailable")
    assert.include(problemOf(answer).message, "schema")
    await database.run("UPDATE schema_migrations SET migration_id = migration_id + 1000")
    await until(
      () => call("GET", "/readyz"),
      ({ status }) => status === 200
    )
  })

  it("answers internal_error to a defect, and tells the cause to the log alone, once, under the request id", async () => {
    await database.run("ALTER SCHEMA public RENAME TO elsewhere")
    const before = server.output().length
    const answers = await everyOperation()
    await database.run("ALTER SCHEMA elsewhere RENAME TO public")
    for (const { answer, id } of answers) {
      assert.strictEqual(codeOf(answer), "internal_error", id)
      assert.notMatch(answer.text, /relation|schema|select|SqlError| at /i)
    }
    const log = server.output().slice(before)
    for (const { answer, id } of answers) {
      const lines = log.split("\n").filter((line) => line.includes(problemOf(answer).request_id))
      assert.lengthOf(lines, 1, id)
      assert.include(lines[0], "does not exist")
    }
  })
})

describe("the OpenAPI document", () => {
  it("promises no answer that this suite has not seen", () => {
    const seen = new Set(accounts.flatMap((agreement) => [...agreement.seen]))
    // A body that is too slow has a test of its own: apiSlowBodies.
    assert.deepStrictEqual(
      accounts[0]!.documented().filter((answer) => !seen.has(answer) && !answer.endsWith(" 408 request_timeout")),
      []
    )
  })
})

const changed = (token: string): string => {
  const [header, claims = "", signature] = token.split(".")
  const parsed = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>
  return [header, encode({ ...parsed, exp: Number(parsed["exp"]) + 1 }), signature].join(".")
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

const forge = (token: string, header: object, secret: string): string => {
  const signed = `${encode(header)}.${token.split(".")[1] ?? ""}`
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`
}

const flip = (text: string): string => {
  const index = Math.floor(text.length / 2)
  return `${text.slice(0, index)}${text[index] === "a" ? "b" : "a"}${text.slice(index + 1)}`
}

const many = (count: number, keyLength = 4, valueLength = 1): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [String(index).padStart(keyLength, "k"), "v".repeat(valueLength)])
  )

const everyId = async (call: Call, tenant: Tenant): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  let cursor: string | null = ""
  while (cursor !== null) {
    const query: string = `limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`
    const answer = record(
      await call("GET", `${control}/organizations/${tenant.organizationId}/invoices?${query}`, { auth: tenant.token })
    )
    found.push(...(answer["data"] as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id))
    cursor = answer["next_cursor"] as string | null
  }
  return found
}
