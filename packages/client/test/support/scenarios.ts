/**
 * The fault scenarios: responses of the server and the expected result of the call. One table, therefore one file.
 *
 * Independent of runtime and test runner: the library is an argument, and `runScenario` returns the
 * faults, so that Node, Bun, Deno and workerd run the same code.
 */

import type * as library from "../../src/index.ts"

/** The exports of the package. */
export type Library = typeof library

/** The response to one request. */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Replaces `body`. */
  readonly bytes?: ReadonlyArray<number>
  /** Adds a `Retry-After` with the date in so many milliseconds. */
  readonly retryAfterDateMs?: number
  /** The fault at the end of the response. */
  readonly ends?:
    | "reset before the head"
    | "hang before the head"
    | "reset within the body"
    | "hang within the body"
    | "never"
}

/** A recorded request. */
export interface ArrivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Tools {
  readonly library: Library
  readonly baseUrl: string
  /** A client with the options of the scenario. */
  readonly client: ReturnType<Library["createClient"]>
  readonly controlPlane: ReturnType<Library["createControlPlane"]>
  readonly abortAfter: (ms: number) => AbortSignal
}

/** One scenario. Expectations that are left out are not checked. */
export interface Scenario {
  readonly name: string
  readonly answers: ReadonlyArray<Answer>
  readonly options?: { readonly maxRetries?: number; readonly timeoutMs?: number; readonly deadlineMs?: number }
  readonly call: (tools: Tools) => Promise<unknown>
  /** Expected members of the result or error. */
  readonly resolves?: Readonly<Record<string, unknown>>
  readonly rejects?: Readonly<Record<string, unknown>>
  /** The expected requests: `METHOD path`. */
  readonly requests?: ReadonlyArray<string>
  readonly headersOfEach?: Readonly<Record<string, string>>
  readonly takesMs?: readonly [atLeast: number, atMost: number]
  /** Text that must not occur in the error, its stack and its causes. */
  readonly hides?: string
}

const isBrowser = "document" in globalThis

const apiKey = "sk_test_4fGq0sQ1xv7mKp2ZrT8uWc3yLd9bNhXe5aVmQ7d"
const id = "inv_01m7q5cqg0e6786ptds43fm4k3"
const requestId = "req_01m7q5cqg0e6786ptds43fm4k3"

const record = {
  id,
  object: "invoice",
  mode: "test",
  status: "queued",
  scenario: "accepted",
  metadata: { order_id: "42" },
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
  created_at: "2026-11-20T09:00:00.000Z",
  updated_at: "2026-11-20T09:00:00.000Z",
  submitted_at: null,
  completed_at: null
}

let ticks = 0
const invoice = (members: object = {}): Answer => ({
  body: JSON.stringify({ ...record, updated_at: `2026-11-20T09:00:00.${100 + ticks++}Z`, ...members })
})
const accepted = (members: object = {}) =>
  invoice({ status: "accepted", completed_at: "2026-11-20T09:00:02.000Z", ...members })
const rejected = invoice({
  status: "rejected",
  completed_at: "2026-11-20T09:00:02.000Z",
  rejection: { code: "sandbox_rejected", message: "No." }
})

const failure = (
  status: number,
  code: string,
  retryable: boolean,
  more: Partial<Answer> = {},
  message = "Why."
): Answer => ({
  status,
  body: JSON.stringify({
    error: { type: "api_error", code, message, param: null, request_id: requestId, retryable }
  }),
  ...more
})
const unavailable = failure(503, "service_unavailable", true)
const limited = (headers?: Record<string, string>) =>
  failure(429, "rate_limit_exceeded", true, headers === undefined ? {} : { headers })
const html = (status: number): Answer => ({
  status,
  headers: { "content-type": "text/html" },
  body: "<!doctype html><title>Oh no</title>"
})

const get = ({ client }: Tools) => client.invoices.get(id)
const submit = ({ client }: Tools) =>
  client.invoices.submit({ invoiceXml: "<Faktura/>", metadata: { orderId: "42" } }, { idempotencyKey: "order 42" })
const GET = `GET /v1/invoices/${id}`
const POST = "POST /v1/invoices"
const times = (count: number, request: string): ReadonlyArray<string> => Array<string>(count).fill(request)

const retriedStatuses = [408, 425, 429, 500, 501, 502, 503, 504, 520, 522, 524, 529, 599]

/** All scenarios. */
export const scenarios: ReadonlyArray<Scenario> = [
  {
    name: "converts a response to camelCase, except for metadata",
    answers: [invoice()],
    call: get,
    resolves: { id, status: "queued", officialNumber: null, attemptCount: 0, metadata: { order_id: "42" } },
    requests: [GET],
    headersOfEach: { authorization: `Bearer ${apiKey}` }
  },
  {
    name: "passes unknown members and values",
    answers: [invoice({ status: "archived", scenario: "slow", tax_office: { code_name: "PL" }, mode: "demo" })],
    call: get,
    resolves: { status: "archived", scenario: "slow", taxOffice: { codeName: "PL" }, mode: "demo" },
    requests: [GET]
  },
  {
    name: "accepts any name in metadata",
    answers: [{ body: JSON.stringify(record).replace('"order_id"', '"__proto__"') }],
    call: async (tools) => ({ names: Object.keys((await get(tools)).metadata) }),
    resolves: { names: ["__proto__"] },
    requests: [GET]
  },
  ...retriedStatuses.map((status): Scenario => ({
    name: `${status} without an envelope is retried`,
    answers: [html(status), invoice()],
    call: get,
    resolves: { id },
    requests: [GET, GET]
  })),
  ...[500, 501, 520, 522, 524, 529].map((status): Scenario => ({
    name: `${status} without an envelope is retried for a submission, with the same key`,
    answers: [html(status), html(status), invoice()],
    call: submit,
    resolves: { id },
    requests: times(3, POST),
    headersOfEach: { "idempotency-key": "order 42" }
  })),
  ...[400, 401, 403, 404, 409, 410, 413, 422, 431].map((status): Scenario => ({
    name: `${status} without an envelope is not retried`,
    answers: [html(status)],
    call: get,
    rejects: {
      _tag: "ApiError",
      name: "ApiError",
      code: "unexpected_response",
      status,
      retryable: false,
      attempts: 1,
      requestId
    },
    requests: [GET]
  })),
  {
    name: "fails with the members of the envelope",
    answers: [failure(404, "invoice_not_found", false, {}, "There is none.")],
    call: get,
    rejects: {
      _tag: "ApiError",
      code: "invoice_not_found",
      type: "api_error",
      status: 404,
      param: null,
      message: "There is none.",
      retryable: false,
      requestId,
      attempts: 1
    },
    requests: [GET]
  },
  {
    name: "passes an unknown code",
    answers: [failure(418, "teapot", false)],
    call: get,
    rejects: { _tag: "ApiError", code: "teapot", status: 418 },
    requests: [GET]
  },
  {
    name: "does not retry if the envelope is not retryable",
    answers: [failure(503, "closed_for_good", false)],
    call: get,
    rejects: { code: "closed_for_good", retryable: false, attempts: 1 },
    requests: [GET]
  },
  {
    name: "retries if the envelope is retryable",
    answers: [failure(409, "busy", true), invoice()],
    call: get,
    resolves: { id },
    requests: [GET, GET]
  },
  {
    name: "fails after three attempts of an outage",
    answers: [failure(500, "internal_error", true)],
    call: get,
    rejects: { _tag: "ApiError", code: "internal_error", status: 500, retryable: true, attempts: 3 },
    requests: times(3, GET)
  },
  {
    name: "sends one request with maxRetries: 0",
    answers: [unavailable],
    options: { maxRetries: 0 },
    call: get,
    rejects: { _tag: "ApiError", attempts: 1 },
    requests: [GET]
  },
  {
    name: "waits for Retry-After in seconds",
    answers: [limited({ "retry-after": "1" }), invoice()],
    call: get,
    resolves: { id },
    requests: [GET, GET],
    takesMs: [990, 20_000]
  },
  {
    name: "waits for Retry-After as a date",
    answers: [{ ...unavailable, retryAfterDateMs: 2500 }, invoice()],
    call: get,
    resolves: { id },
    requests: [GET, GET],
    takesMs: [1400, 20_000]
  },
  {
    name: "fails with retryAfterMs for a Retry-After of more than a minute",
    answers: [limited({ "retry-after": "61" })],
    call: get,
    rejects: { code: "rate_limit_exceeded", retryAfterMs: 61_000, retryable: true, attempts: 1 },
    requests: [GET],
    takesMs: [0, 20_000]
  },
  ...["soon", "-5", "", "Thu, 01 Jan 1970 00:00:00 GMT"].map((value): Scenario => ({
    name: `ignores Retry-After: ${value}`,
    answers: [limited({ "retry-after": value }), invoice()],
    call: get,
    resolves: { id },
    requests: [GET, GET]
  })),
  {
    name: "fails at once if the delay would exceed the deadline",
    answers: [limited({ "retry-after": "30" })],
    options: { deadlineMs: 25_000 },
    call: get,
    rejects: { code: "rate_limit_exceeded", retryAfterMs: 30_000, attempts: 1 },
    requests: [GET],
    takesMs: [0, 20_000]
  },
  {
    name: "retries after a reset before the response",
    answers: [{ ends: "reset before the head" }, invoice()],
    call: get,
    resolves: { id },
    requests: [GET, GET]
  },
  {
    name: "retries after a reset within the response",
    answers: [{ ...invoice(), ends: "reset within the body" }, invoice()],
    call: get,
    resolves: { id },
    requests: [GET, GET]
  },
  {
    name: "retries after a reset within an error response",
    answers: [{ ...failure(404, "invoice_not_found", false), ends: "reset within the body" }, invoice()],
    call: get,
    resolves: { id },
    requests: [GET, GET]
  },
  {
    name: "fails with ConnectionError if all attempts are reset",
    answers: [{ ends: "reset before the head" }],
    call: get,
    rejects: {
      _tag: "ConnectionError",
      name: "ConnectionError",
      code: "connection_error",
      retryable: true,
      attempts: 3
    },
    requests: times(3, GET)
  },
  {
    name: "fails with ConnectionError if nothing listens",
    answers: [],
    call: ({ library }) => library.createClient({ apiKey, baseUrl: "http://127.0.0.1:1" }).invoices.get(id),
    rejects: {
      _tag: "ConnectionError",
      attempts: 3,
      requestId: undefined
    },
    requests: [],
    hides: apiKey
  },
  {
    name: "fails with TimeoutError after three attempts without a response",
    answers: [{ ends: "hang before the head" }],
    options: { timeoutMs: 2000 },
    call: get,
    rejects: { _tag: "TimeoutError", name: "TimeoutError", code: "timeout", retryable: true, attempts: 3 },
    requests: times(3, GET),
    takesMs: [5990, 30_000]
  },
  {
    name: "succeeds if the second attempt gets a response",
    answers: [{ ends: "hang before the head" }, invoice()],
    options: { timeoutMs: 4000 },
    call: get,
    resolves: { id },
    requests: [GET, GET]
  },
  {
    name: "fails with TimeoutError if the response stops in the middle",
    answers: [{ ...invoice(), ends: "hang within the body" }],
    options: { timeoutMs: 3000, maxRetries: 0 },
    call: get,
    rejects: { _tag: "TimeoutError", attempts: 1, requestId },
    requests: [GET]
  },
  {
    name: "applies the deadline to all attempts together",
    answers: [{ ends: "hang before the head" }],
    options: { timeoutMs: 60_000, deadlineMs: 2000, maxRetries: 9 },
    call: get,
    rejects: { _tag: "TimeoutError", attempts: 1 },
    requests: [GET],
    takesMs: [1990, 20_000]
  },
  {
    name: "sends no request if the signal is aborted",
    answers: [invoice()],
    call: ({ client }) => client.invoices.get(id, { signal: AbortSignal.abort("enough") }),
    rejects: { _tag: "AbortedError", name: "AbortedError", code: "aborted", cause: "enough", retryable: false },
    requests: []
  },
  {
    name: "aborts a request by signal",
    answers: [{ ends: "hang before the head" }],
    call: ({ abortAfter, client }) => client.invoices.get(id, { signal: abortAfter(2000) }),
    rejects: { _tag: "AbortedError", cause: "enough", attempts: 1 },
    requests: [GET],
    takesMs: [1990, 20_000]
  },
  {
    name: "aborts the reading of a response by signal",
    answers: [{ ...invoice(), ends: "hang within the body" }],
    call: ({ abortAfter, client }) => client.invoices.get(id, { signal: abortAfter(2000) }),
    rejects: { _tag: "AbortedError", attempts: 1, requestId },
    requests: [GET],
    takesMs: [1990, 20_000]
  },
  {
    name: "aborts a delay by signal",
    answers: [limited({ "retry-after": "20" })],
    call: ({ abortAfter, client }) => client.invoices.get(id, { signal: abortAfter(2000) }),
    rejects: { _tag: "AbortedError", attempts: 1 },
    requests: [GET],
    takesMs: [1990, 20_000]
  },
  ...["{", "", "<html>", '{"id":'].map((body): Scenario => ({
    name: `fails with DecodeError for the body ${JSON.stringify(body)}`,
    answers: [{ body }],
    call: get,
    rejects: {
      _tag: "DecodeError",
      name: "DecodeError",
      code: "decode_error",
      retryable: false,
      attempts: 1,
      requestId
    },
    requests: [GET]
  })),
  {
    name: "fails with DecodeError for an error without end",
    answers: [{ status: 500, body: " ".repeat(10_000), ends: "never" }],
    call: get,
    rejects: { _tag: "DecodeError", attempts: 1, requestId },
    requests: [GET]
  },
  ...["null", "[]", '"queued"', '""', "42", "{}", '{"id":"inv_1","object":"invoice"}'].map((body): Scenario => ({
    name: `fails with DecodeError for the JSON ${body}`,
    answers: [{ body }],
    call: get,
    rejects: { _tag: "DecodeError", attempts: 1 },
    requests: [GET]
  })),
  ...(
    [
      ["a number in place of a string", { status: 1 }, "status"],
      ["a string in place of a number", { attempt_count: "1" }, "attemptCount"],
      ["null in a member that is not nullable", { upo_available: null }, "upoAvailable"],
      ["an object with a missing member", { rejection: { code: "x" } }, "rejection.message"],
      ["a string in place of an object", { rejection: "" }, "rejection.code"],
      ["metadata with a number", { metadata: { order: 1 } }, "metadata"]
    ] as const
  ).map(([what, members, path]): Scenario => ({
    name: `fails with DecodeError that names the member for ${what}`,
    answers: [invoice(members)],
    call: get,
    rejects: { _tag: "DecodeError", message: `The response has no valid ${path}. Check baseUrl and proxies.` },
    requests: [GET]
  })),
  {
    name: "does not follow a redirect",
    answers: [{ status: 302, headers: { location: "followed" } }],
    call: get,
    // Browsers hide the status of a redirect.
    rejects: { _tag: "ApiError", code: "unexpected_response", status: isBrowser ? 0 : 302, attempts: 1 },
    requests: [GET]
  },
  ...["", ".", "..", "../me", "a/../../me", "?limit=1", "#", "%2e%2e", "inv_1\n", "ż", `${id}/upo`].map(
    (malformed): Scenario => ({
      name: `does not change the path for the identifier ${JSON.stringify(malformed)}`,
      answers: [failure(404, "invoice_not_found", false)],
      call: ({ client }) => client.invoices.get(malformed),
      rejects: { _tag: "ApiError", code: "invoice_not_found" },
      requests: [`GET /v1/invoices/${malformed.replace(/[^a-z0-9_]/gi, "-") || "-"}`]
    })
  ),
  {
    name: "retries a submission with the same key",
    answers: [unavailable, { ends: "reset before the head" }, invoice()],
    call: submit,
    resolves: { id, idempotencyKey: "order 42" },
    requests: times(3, POST),
    headersOfEach: { "idempotency-key": "order 42", "content-type": "application/json" }
  },
  {
    name: "fails with the key of the submission",
    answers: [unavailable],
    call: submit,
    rejects: { _tag: "ApiError", idempotencyKey: "order 42", attempts: 3, retryable: true },
    requests: times(3, POST)
  },
  {
    name: "fails with the key of the submission after a timeout",
    answers: [{ ends: "hang before the head" }],
    options: { timeoutMs: 2000, maxRetries: 0 },
    call: submit,
    rejects: { _tag: "TimeoutError", idempotencyKey: "order 42", retryable: true },
    requests: [POST]
  },
  {
    name: "does not retry a rejected submission",
    answers: [failure(409, "idempotency_conflict", false)],
    call: submit,
    rejects: { code: "idempotency_conflict", idempotencyKey: "order 42", attempts: 1 },
    requests: [POST]
  },
  {
    name: "masks the API key in an error message",
    answers: [failure(400, "bad", false, {}, `No: authorization=Bearer ${apiKey}`)],
    call: get,
    rejects: { message: "No: authorization=Bearer ***" },
    requests: [GET],
    hides: apiKey
  },
  {
    name: "keeps the error message if there is no credential",
    answers: [failure(400, "bad", false, {}, "The name is undefined.")],
    call: ({ controlPlane }) => controlPlane.organizations.get("org_1"),
    rejects: { code: "bad", message: "The name is undefined." }
  },
  {
    name: "ignores members of the envelope with names of Error properties",
    answers: [
      {
        status: 503,
        body: JSON.stringify({
          error: {
            type: "api_error",
            code: "busy",
            message: "Why.",
            param: null,
            request_id: requestId,
            retryable: true,
            name: "n",
            attempts: 7,
            cause: "c",
            request: `Bearer ${apiKey}`,
            idempotency_key: "k",
            invoice: {},
            _tag: "t"
          }
        })
      }
    ],
    call: get,
    rejects: { _tag: "ApiError", name: "ApiError", code: "busy", attempts: 3, cause: undefined, invoice: undefined },
    requests: times(3, GET)
  },
  {
    name: "does not retry a POST after a reset",
    answers: [{ ends: "reset before the head" }],
    call: ({ controlPlane }) => controlPlane.organizations.create({ name: "a" }),
    rejects: { _tag: "ConnectionError", attempts: 1, retryable: false },
    requests: ["POST /v1/control-plane/organizations"]
  },
  ...[unavailable, html(500), html(502)].map((answer): Scenario => ({
    name: `does not retry a POST after ${answer.status} ${answer.headers ? "without" : "with"} an envelope`,
    answers: [answer],
    call: ({ controlPlane }) => controlPlane.apiKeys.create("org_1", { mode: "test" }),
    rejects: { _tag: "ApiError", attempts: 1 },
    requests: ["POST /v1/control-plane/organizations/org_1/api-keys"]
  })),
  {
    name: "does not retry a POST after a timeout",
    answers: [{ ends: "hang before the head" }],
    options: { timeoutMs: 2000 },
    call: ({ controlPlane }) => controlPlane.webhookEndpoints.rotateSecret("we_1"),
    rejects: { _tag: "TimeoutError", attempts: 1, retryable: false },
    requests: ["POST /v1/control-plane/webhook-endpoints/we_1/rotate-secret"]
  },
  {
    name: "treats a 404 after a reset DELETE as success",
    answers: [{ ends: "reset before the head" }, failure(404, "api_key_not_found", false)],
    call: ({ controlPlane }) => controlPlane.apiKeys.revoke("key_1"),
    resolves: {},
    requests: times(2, "DELETE /v1/control-plane/api-keys/key_1")
  },
  ...(
    [
      ["the first attempt", [failure(404, "api_key_not_found", false)]],
      ["an error page", [unavailable, html(404)]],
      ["an unknown route", [unavailable, failure(404, "not_found", false)]]
    ] as const
  ).map(([what, answers]): Scenario => ({
    name: `does not treat a 404 of ${what} as a successful DELETE`,
    answers,
    call: ({ controlPlane }) => controlPlane.apiKeys.revoke("key_1"),
    rejects: { _tag: "ApiError", status: 404, attempts: answers.length },
    requests: times(answers.length, "DELETE /v1/control-plane/api-keys/key_1")
  })),
  {
    name: "retries a POST after a rate limit",
    answers: [
      limited(),
      {
        status: 201,
        body: JSON.stringify({
          id: "org_01m7q5cqg0e6786ptds43fm4k3",
          object: "organization",
          name: "a",
          gateway_credential: { present: false, updated_at: null },
          created_at: "2026-11-20T09:00:00.000Z"
        })
      }
    ],
    call: ({ controlPlane }) => controlPlane.organizations.create({ name: "a" }),
    resolves: { name: "a", gatewayCredential: { present: false, updatedAt: null } },
    requests: times(2, "POST /v1/control-plane/organizations")
  },
  {
    name: "fails with DecodeError for a list of invalid records",
    answers: [{ body: '{"object":"list","data":[{}],"has_more":false,"next_cursor":null}' }],
    call: async ({ controlPlane }) => {
      for await (const organization of controlPlane.organizations.list({ limit: 2 })) return organization
      return undefined
    },
    rejects: {
      _tag: "DecodeError",
      message: "The response has no valid id. Check baseUrl and proxies.",
      attempts: 1,
      requestId
    },
    requests: ["GET /v1/control-plane/organizations?limit=2"]
  },
  {
    name: "fails with DecodeError for a page without data",
    answers: [{ body: '{"object":"list","has_more":false,"next_cursor":null}' }],
    call: async ({ controlPlane }) => {
      for await (const organization of controlPlane.organizations.list({ limit: 2 })) return organization
      return undefined
    },
    rejects: { _tag: "DecodeError" },
    requests: ["GET /v1/control-plane/organizations?limit=2"]
  },
  {
    name: "fails with DecodeError for a page with a string as data",
    answers: [{ body: '{"object":"list","data":"","has_more":false,"next_cursor":null}' }],
    call: ({ controlPlane }) => controlPlane.apiKeys.list("org_1").page(),
    rejects: { _tag: "DecodeError", message: "The response has no valid id. Check baseUrl and proxies." }
  },
  {
    name: "accepts a record in place of a list of one",
    answers: [{ body: `{"object":"list","data":${JSON.stringify(record)},"has_more":false,"next_cursor":null}` }],
    call: async ({ controlPlane }) => {
      for await (const invoice of controlPlane.invoices.list("org_1")) return invoice
      return undefined
    },
    resolves: { id }
  },
  {
    name: "fails with DecodeError if a login gets an empty string",
    answers: [{ body: '""' }],
    call: ({ controlPlane }) => controlPlane.login({ email: "owner@example.com", password: "p" }),
    rejects: { _tag: "DecodeError", attempts: 1 },
    requests: ["POST /v1/control-plane/auth/login"]
  },
  {
    name: "returns a receipt byte for byte",
    answers: [
      { headers: { "content-type": "application/xml" }, bytes: [0xef, 0xbb, 0xbf, 0x3c, 0xc5, 0xbc, 0x2f, 0x3e] }
    ],
    call: async ({ client }) => {
      const upo = await client.invoices.downloadUpo(id)
      const streamed = new Uint8Array(await new Response(upo.stream()).arrayBuffer())
      return { text: await upo.text(), bytes: [...(await upo.bytes())], streamed: [...streamed] }
    },
    resolves: {
      text: "<ż/>",
      bytes: [0xef, 0xbb, 0xbf, 0x3c, 0xc5, 0xbc, 0x2f, 0x3e],
      streamed: [0xef, 0xbb, 0xbf, 0x3c, 0xc5, 0xbc, 0x2f, 0x3e]
    },
    requests: [`${GET}/upo`]
  },
  {
    name: "retries after a reset within a receipt",
    answers: [
      { headers: { "content-type": "application/xml" }, body: "<a", ends: "reset within the body" },
      { headers: { "content-type": "application/xml" }, body: "<a/>" }
    ],
    call: async ({ client }) => ({ text: await (await client.invoices.downloadUpo(id)).text() }),
    resolves: { text: "<a/>" },
    requests: times(2, `${GET}/upo`)
  },
  {
    name: "fails with DecodeError for an HTML page in place of a receipt",
    answers: [html(200)],
    call: ({ client }) => client.invoices.downloadUpo(id),
    rejects: { _tag: "DecodeError", attempts: 1 },
    requests: [`${GET}/upo`]
  },
  {
    name: "downloads a document, byte for byte",
    answers: [{ headers: { "content-type": "application/xml" }, body: "<ż/>" }],
    call: async ({ client }) => ({ text: await (await client.invoices.document(id)).text() }),
    resolves: { text: "<ż/>" },
    requests: [`${GET}/document`]
  },
  {
    name: "draws an invoice as a PDF",
    answers: [{ headers: { "content-type": "application/pdf" }, bytes: [0x25, 0x50, 0x44, 0x46] }],
    call: async ({ client }) => ({ bytes: [...(await (await client.invoices.pdf(id)).bytes())] }),
    resolves: { bytes: [0x25, 0x50, 0x44, 0x46] },
    requests: [`${GET}/pdf`]
  },
  {
    name: "draws a QR code as SVG",
    answers: [{ headers: { "content-type": "image/svg+xml" }, body: "<svg/>" }],
    call: async ({ client }) => ({ text: await (await client.invoices.qr(id)).text() }),
    resolves: { text: "<svg/>" },
    requests: [`${GET}/qr?code=1&format=svg&label=true`]
  },
  {
    name: "draws the second QR code as PNG without its label",
    answers: [{ headers: { "content-type": "image/png" }, bytes: [0x89, 0x50, 0x4e, 0x47] }],
    call: async ({ client }) => ({
      bytes: [...(await (await client.invoices.qr(id, { code: 2, format: "png", label: false })).bytes())]
    }),
    resolves: { bytes: [0x89, 0x50, 0x4e, 0x47] },
    requests: [`${GET}/qr?code=2&format=png&label=false`]
  },
  {
    name: "waits through an outage",
    answers: [invoice(), unavailable, unavailable, unavailable, invoice({ status: "submitted" }), accepted()],
    call: async ({ client }) => {
      const seen: Array<string> = []
      const { status } = await client.invoices.waitUntilFinal(id, { onProgress: ({ status }) => seen.push(status) })
      return { status, seen }
    },
    resolves: { status: "accepted", seen: ["queued", "submitted", "accepted"] },
    requests: times(6, GET)
  },
  {
    name: "waits through a rate limit from the first poll on",
    answers: [...Array<Answer>(3).fill(limited({ "retry-after": "1" })), accepted()],
    call: ({ client }) => client.invoices.waitUntilFinal(id),
    resolves: { status: "accepted" },
    requests: times(4, GET)
  },
  {
    name: "submits through a rate limit with one key, then waits",
    answers: [...Array<Answer>(3).fill(limited({ "retry-after": "1" })), invoice(), accepted()],
    call: ({ client }) => client.invoices.submitAndWait({ invoiceXml: "<a/>" }, { idempotencyKey: "order 42" }),
    resolves: { status: "accepted", idempotencyKey: "order 42" },
    requests: [...times(4, POST), GET]
  },
  {
    name: "fails the wait at once if the first response asks for more time than it has",
    answers: [limited({ "retry-after": "3600" })],
    call: ({ client }) => client.invoices.waitUntilFinal(id),
    rejects: { code: "rate_limit_exceeded", retryAfterMs: 3_600_000, attempts: 1 },
    requests: [GET]
  },
  {
    name: "fails the wait for an unknown invoice",
    answers: [failure(404, "invoice_not_found", false)],
    call: ({ client }) => client.invoices.waitUntilFinal(id),
    rejects: { code: "invoice_not_found", attempts: 1 },
    requests: [GET]
  },
  {
    name: "ends the wait at the deadline with the last known invoice",
    answers: [invoice({ status: "submitted", updated_at: "2026-11-20T09:00:01.000Z" })],
    call: async ({ client }) =>
      client.invoices.waitUntilFinal(id, { deadlineMs: 3000 }).catch((error: { _tag: string; invoice: object }) => {
        throw Object.assign(new Error(error._tag), error.invoice)
      }),
    rejects: { message: "TimeoutError", status: "submitted" },
    takesMs: [2990, 20_000]
  },
  {
    name: "aborts the wait by signal",
    answers: [invoice()],
    call: ({ abortAfter, client }) => client.invoices.waitUntilFinal(id, { signal: abortAfter(2000) }),
    rejects: { _tag: "AbortedError", cause: "enough" },
    takesMs: [1990, 20_000]
  },
  {
    name: "fails the wait for a receipt of a rejected invoice",
    answers: [invoice({ status: "submitted" }), rejected],
    call: ({ client }) => client.invoices.waitForUpo(id),
    rejects: { _tag: "UpoUnavailableError", name: "UpoUnavailableError", code: "upo_unavailable", retryable: false },
    requests: [GET, GET]
  },
  {
    name: "waits for the receipt after the invoice is accepted",
    answers: [accepted(), accepted({ upo_available: true })],
    call: ({ client }) => client.invoices.waitForUpo(id),
    resolves: { upoAvailable: true },
    requests: [GET, GET]
  },
  {
    name: "submits and waits with one key",
    answers: [unavailable, invoice(), accepted()],
    call: ({ client }) => client.invoices.submitAndWait({ invoiceXml: "<a/>" }, { idempotencyKey: "order 42" }),
    resolves: { status: "accepted", idempotencyKey: "order 42" },
    requests: [POST, POST, GET]
  },
  {
    name: "fails with the key if submitting and waiting exceeds the deadline",
    answers: [invoice()],
    call: ({ client }) =>
      client.invoices.submitAndWait({ invoiceXml: "<a/>" }, { idempotencyKey: "a", deadlineMs: 500 }),
    rejects: { _tag: "TimeoutError", idempotencyKey: "a", retryable: true }
  }
]

// -----------------------------------------------------------------------------
// Running
// -----------------------------------------------------------------------------

const show = (value: unknown): string => JSON.stringify(value) ?? String(value)

const differences = (what: string, found: unknown, expected: Readonly<Record<string, unknown>>): Array<string> =>
  Object.entries(expected)
    .filter(([name, value]) => show((found as Record<string, unknown> | undefined)?.[name]) !== show(value))
    .map(
      ([name, value]) =>
        `${what}.${name} is ${show((found as Record<string, unknown> | undefined)?.[name])}, not ${show(value)}`
    )

const everythingOf = (error: unknown): string =>
  error instanceof Error
    ? `${error.message} ${error.stack} ${show(Object.entries(error))} ${everythingOf(error.cause)}`
    : show(error)

/** Runs a scenario against a fault server. Resolves with the faults. */
export const runScenario = async (
  library: Library,
  origin: string,
  scenario: Scenario
): Promise<ReadonlyArray<string>> => {
  const where = await fetch(`${origin}/script`, { method: "POST", body: JSON.stringify(scenario.answers) })
  const baseUrl = origin + (await where.text())
  const seen: Array<string> = []
  const options = { baseUrl, ...scenario.options, onRequest: (info: object) => seen.push(show(info)) }
  const tools: Tools = {
    library,
    baseUrl,
    client: library.createClient({ apiKey, ...options }),
    controlPlane: library.createControlPlane(options),
    abortAfter: (ms) => {
      const controller = new AbortController()
      setTimeout(() => controller.abort("enough"), ms)
      return controller.signal
    }
  }
  const started = Date.now()
  const { error, value } = await scenario.call(tools).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error })
  )
  const tookMs = Date.now() - started
  const arrived = (await (await fetch(`${baseUrl}/requests`)).json()) as ReadonlyArray<ArrivedRequest>

  const faults: Array<string> = []
  if (scenario.resolves) {
    if (error !== undefined) faults.push(`rejected with ${everythingOf(error)}`)
    faults.push(...differences("value", value, scenario.resolves))
  }
  if (scenario.rejects) {
    if (error === undefined) faults.push(`resolved with ${show(value)}`)
    faults.push(...differences("error", error, scenario.rejects))
  }
  const requests = arrived.map(({ method, path }) => `${method} ${path}`)
  if (scenario.requests && show(requests) !== show(scenario.requests)) faults.push(`requests are ${show(requests)}`)
  for (const { headers } of arrived) faults.push(...differences("headers", headers, scenario.headersOfEach ?? {}))
  const [atLeast, atMost] = scenario.takesMs ?? [0, 20_000]
  if (tookMs < atLeast || tookMs > atMost) faults.push(`took ${tookMs} ms`)
  for (const secret of [scenario.hides, apiKey]) {
    if (secret !== undefined && everythingOf(error).includes(secret)) faults.push("the error contains the secret")
    if (secret !== undefined && seen.join().includes(secret)) faults.push("a hook receives the secret")
  }
  return faults
}

/** Runs all scenarios with limited concurrency. Resolves with the faults by scenario name. */
export const runScenarios = async (
  library: Library,
  origin: string,
  concurrency = scenarios.length
): Promise<Record<string, ReadonlyArray<string>>> => {
  const faults: Record<string, ReadonlyArray<string>> = {}
  const left = scenarios.values()
  const worker = async () => {
    for (const scenario of left) faults[scenario.name] = await runScenario(library, origin, scenario)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return faults
}
