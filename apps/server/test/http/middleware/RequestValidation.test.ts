import { afterAll, assert, describe, it } from "@effect/vitest"
import { Api, type Problems } from "@govoice/api"
import { Ajv2020 } from "ajv/dist/2020.js"
import { OpenApi } from "effect/http-api"
import * as fc from "fast-check"
import { type Answer, errorOf, examples, makeServer, sendTo } from "../support/contractServer.ts"

const server = makeServer()
const send = sendTo(server)
afterAll(() => server.dispose())

const organization = "/v1/control-plane/organizations/org_01m7q5cqg0e6786ptds43fm4k3"
const endpoint = "/v1/control-plane/webhook-endpoints/we_01m7q5cqg0e6786ptds43fm4k3"

const signUp = (raw: string) => send("POST", "/v1/control-plane/accounts", { raw })
const subscribe = (body: unknown) => send("POST", `${organization}/webhook-endpoints`, { body })
const list = (query: string) => send("GET", `${endpoint}/deliveries?${query}`)

const statuses: Readonly<Record<string, number>> = {
  unknown_parameter: 400,
  invalid_parameter: 422
}

const told = (answer: Answer, code: string, param: string | null, message: string | RegExp) => {
  const error = errorOf(answer)
  assert.strictEqual(error.code, code as Problems.Code, answer.text)
  assert.strictEqual(answer.status, statuses[code])
  assert.strictEqual(error.param, param)
  assert.hasAllKeys(error, ["type", "code", "message", "param", "request_id", "retryable"])
  if (typeof message === "string") assert.strictEqual(error.message, message)
  else assert.match(error.message ?? "", message)
}

describe("RequestValidation", () => {
  describe("of bodies", () => {
    it.each<[body: string, param: string, message: string]>([
      ["{}", "email", "email is missing."],
      ['{"email":"a@b.c"}', "password", "password is missing."],
      ['{"email":5,"password":"long enough, really"}', "email", "email must be a string."],
      ['{"email":null,"password":"long enough, really"}', "email", "email must be a string."],
      ['{"email":"nope","password":"long enough, really"}', "email", "email must be an email address."],
      ['{"email":"a@b.c","password":"short"}', "password", "password must have 12 to 128 characters."],
      ['{"email":"a@b.c","password":["long enough, really"]}', "password", "password must be a string."],
      [
        '{"email":"a@b.c","password":"long enough\\u0000, really"}',
        "password",
        "password must not contain NUL or unpaired surrogates."
      ],
      [
        '{"email":"a@b.c","password":"long enough\\ud83d, really"}',
        "password",
        "password must not contain NUL or unpaired surrogates."
      ]
    ])("names the fault of the sign-up %s", async (body, param, message) => {
      told(await signUp(body), "invalid_parameter", param, message)
    })

    it.each<[body: unknown, param: string, message: string]>([
      [{ url: 5, event_types: ["*"] }, "url", "url must be a string."],
      [{ url: "https://example.com" }, "event_types", "event_types is missing."],
      [{ url: "https://example.com", event_types: "*" }, "event_types", "event_types must be an array."],
      [
        { url: "https://example.com", event_types: [] },
        "event_types",
        "event_types must have at least one event type."
      ],
      [
        { url: "https://example.com", event_types: ["*", "nope"] },
        "event_types",
        'event_types[1] must be "*", "invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available", "invoice.rejected", or "invoice.failed".'
      ],
      [
        { url: "https://example.com", event_types: ["*", "invoice.failed"] },
        "event_types",
        'event_types must not have event types other than "*".'
      ],
      [
        { url: "https://example.com", event_types: ["*"], description: 5 },
        "description",
        "description must be a string or null."
      ],
      [
        { url: "https://example.com", event_types: ["*"], description: "x".repeat(501) },
        "description",
        "description must have at most 500 characters."
      ],
      [{ url: "https://example.com", event_types: ["*"], enabled: "yes" }, "enabled", "enabled must be true or false."]
    ])("names the fault of the endpoint %j", async (body, param, message) => {
      told(await subscribe(body), "invalid_parameter", param, message)
    })

    it.each<[body: unknown, param: string, message: string]>([
      [{ activates_in_seconds: "5" }, "activates_in_seconds", "activates_in_seconds must be a number."],
      [{ activates_in_seconds: 1.5 }, "activates_in_seconds", "activates_in_seconds must be an integer."],
      [
        { activates_in_seconds: 604_801 },
        "activates_in_seconds",
        "activates_in_seconds must be a value between 0 and 604800."
      ]
    ])("names the fault of the rotation %j", async (body, param, message) => {
      told(await send("POST", `${endpoint}/rotate-secret`, { body }), "invalid_parameter", param, message)
    })

    it("describes an invalid tax number without repeating the token beside it", async () => {
      const body = { token: "a-secret-token", context: { type: "Nip", value: "5265877636" } }
      const answer = await send("PUT", `${organization}/gateway-credential`, { body })
      const message = "context.value must be a NIP: ten digits with a valid check digit."
      told(answer, "invalid_parameter", "context", message)
      assert.notInclude(answer.text, "a-secret-token")
    })

    it("names an unknown member within another one, whose name is right", async () => {
      const body = { token: "a-secret-token", context: { type: "Nip", value: "5265877635", nip: "5265877635" } }
      const answer = await send("PUT", `${organization}/gateway-credential`, { body })
      told(answer, "invalid_parameter", "context", "context.nip is not known here.")
    })

    it("describes an invalid mode and expiry of a key", async () => {
      const create = (body: unknown) => send("POST", `${organization}/api-keys`, { body })
      told(await create({ mode: "prod" }), "invalid_parameter", "mode", 'mode must be "test" or "live".')
      told(await create({ mode: "test", expires_at: "soon" }), "invalid_parameter", "expires_at", /such as 2026-/)
      assert.strictEqual((await create({ mode: "test", name: null, expires_at: null })).status, 201)
    })

    it.each(["role", "toString", "__proto__", "constructor", "", "e-mail", "password "])(
      "names the unknown member %j",
      async (name) => {
        const body = `{"email":"a@b.c","password":"long enough, really",${JSON.stringify(name)}:"secret value"}`
        const answer = await signUp(body)
        told(
          answer,
          "unknown_parameter",
          name,
          `Unknown parameter ${JSON.stringify(name)}. Correct its name or remove it.`
        )
        assert.notInclude(answer.text, "secret value")
      }
    )

    it("reads no member from a prototype", async () => {
      told(
        await signUp('{"__proto__":{"email":"a@b.c","password":"long enough, really"}}'),
        "unknown_parameter",
        "__proto__",
        /./
      )
    })

    it("truncates a long name by characters", async () => {
      const answer = await signUp(JSON.stringify({ ["🔑".repeat(100_000)]: 1 }))
      told(
        answer,
        "unknown_parameter",
        `${"🔑".repeat(64)}…`,
        /^Unknown parameter "(?:🔑){64}…"\. Correct its name or remove it\.$/u
      )
      assert.isBelow(answer.text.length, 600)
    })

    it.each(["[]", "null", '"text"', "5"])("refuses %s, which is no object", async (raw) => {
      told(await signUp(raw), "invalid_parameter", null, "The request body must be an object.")
    })
  })

  describe("of queries", () => {
    it.each<[query: string, param: string, message: string]>([
      ["limit=", "limit", "limit must be an integer from 1 to 100."],
      ["limit=0", "limit", "limit must be an integer from 1 to 100."],
      ["limit=101", "limit", "limit must be an integer from 1 to 100."],
      ["limit=ten", "limit", "limit must be an integer from 1 to 100."],
      ["limit=1e1", "limit", "limit must be an integer from 1 to 100."],
      ["limit=1&limit=2", "limit", "limit must not be given more than once."],
      ["cursor=", "cursor", "cursor must not be empty."],
      ["cursor=a&cursor=b", "cursor", "cursor must not be given more than once."],
      ["event_id=", "event_id", "event_id must not be empty."],
      ["invoice_id=", "invoice_id", "invoice_id must not be empty."],
      [
        "status=lost",
        "status",
        'status must be "pending", "delivering", "succeeded", "retrying", "failed", or "endpoint_disabled".'
      ],
      [
        "status=",
        "status",
        'status must be "pending", "delivering", "succeeded", "retrying", "failed", or "endpoint_disabled".'
      ]
    ])("says what is wrong in %s", async (query, param, message) => {
      told(await list(query), "invalid_parameter", param, message)
    })

    it.each(["color", "Limit", "limit[]", "__proto__", "toString", ""])(
      "names the unknown parameter %j",
      async (name) => {
        const answer = await list(`${encodeURIComponent(name)}=1`)
        told(
          answer,
          "unknown_parameter",
          name,
          `Unknown parameter ${JSON.stringify(name)}. Correct its name or remove it.`
        )
      }
    )

    it("passes the parsed query to the handler", async () => {
      assert.strictEqual((await list("limit=7&cursor=abc&status=failed&event_id=evt_1")).status, 200)
      assert.deepStrictEqual(server.calls.at(-1)?.query, {
        limit: 7,
        cursor: "abc",
        status: "failed",
        event_id: "evt_1"
      })
      assert.strictEqual((await list("")).status, 200)
      assert.deepStrictEqual(server.calls.at(-1)?.query, {})
    })

    it("filters invoices by status and mode", async () => {
      assert.strictEqual((await send("GET", `${organization}/invoices?status=accepted&mode=test`)).status, 200)
      told(
        await send("GET", `${organization}/invoices?mode=prod`),
        "invalid_parameter",
        "mode",
        'mode must be "test" or "live".'
      )
      told(await send("GET", `${organization}/invoices?endpoint_id=evt_1`), "unknown_parameter", "endpoint_id", /./)
    })
  })

  describe("of anything", () => {
    const secret = "hunter2-hunter2-hunter2"
    const member = fc.oneof(
      fc.constantFrom<unknown>(
        secret,
        { secret },
        [secret],
        `${secret}\u0000`,
        secret.repeat(10_000),
        null,
        5,
        true,
        "a@b.c"
      ),
      fc.jsonValue({ maxDepth: 2 })
    )
    const body = fc.record(
      { email: member, password: member, url: member, event_types: member },
      { requiredKeys: [], noNullPrototype: true }
    )

    // The schemas of the document, to compare with the decoder.
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(OpenApi.fromApi(Api), "doc")
    const allowed = (name: string) => ajv.getSchema(`doc#/components/schemas/${name}`)!
    const account = allowed("NewAccount")
    const subscription = allowed("WebhookEndpointRequest")

    it("answers an invalid body with a sentence that repeats no value, and accepts none that the document forbids", async () => {
      await fc.assert(
        fc.asyncProperty(body, fc.boolean(), async (value, accounts) => {
          const answer = await (accounts ? signUp(JSON.stringify(value)) : subscribe(value))
          if (answer.status === 201) assert.isTrue((accounts ? account : subscription)(value))
          else {
            assert.include([400, 422], answer.status)
            assert.match(errorOf(answer).message ?? "", /^[^]+\.$/)
            assert.notInclude(answer.text, secret)
            assert.isBelow(answer.text.length, 1000)
          }
        }),
        { numRuns: 2000 }
      )
    })

    it("leaves a response that does not encode to the server, which reports a defect", async () => {
      const unencodable = makeServer({
        "organizations.get": { id: "not-an-organization" },
        "invoices.submit": { ...examples["invoices.submit"].response, metadata: 5 }
      })
      const sendWrong = sendTo(unencodable)
      const headers = { "idempotency-key": "order-1" }
      for (const answer of [
        await sendWrong("GET", organization),
        await sendWrong("POST", "/v1/invoices", { headers, raw: '{"invoice_xml":"<a/>"}' })
      ]) {
        assert.strictEqual(answer.status, 500)
        assert.strictEqual(answer.text, "")
      }
      await unencodable.dispose()
    })
  })
})
