/** Options, requests, hooks, limits and timeouts of the client, on a stubbed `fetch`. */
import { getEventListeners } from "node:events"
import { assert, describe, it } from "vitest"
import {
  createClient,
  createConnection,
  createControlPlane,
  getDeliveryStats,
  getInvoice,
  getOverview,
  type RequestInfo,
  submitInvoice
} from "../src/index.ts"
import { apiKey, baseUrl, connect, rejection } from "./support/connect.ts"
import { id, json, problem, record, stub } from "./support/stub.ts"

describe("createClient", () => {
  it.each<[message: string, options: object]>([
    ["apiKey is undefined: is GOVOICE_API_KEY set?", { apiKey: undefined }],
    ["apiKey is empty: is GOVOICE_API_KEY set?", { apiKey: "" }],
    ["apiKey must not have white space or special characters.", { apiKey: "sk_test_secret\n" }],
    ["baseUrl is undefined: is GOVOICE_URL set?", { baseUrl: undefined }],
    ["baseUrl is empty: is GOVOICE_URL set?", { baseUrl: "" }],
    ['baseUrl must start with http:// or https:// (got "api.example.com").', { baseUrl: "api.example.com" }],
    ['baseUrl must start with http:// or https:// (got "https:///v1").', { baseUrl: "https:///v1" }],
    ['baseUrl must not end in /v1 (got "https://example.com/v1").', { baseUrl: "https://example.com/v1" }],
    ['baseUrl must not end in /v1 (got "https://example.com/a/v1//").', { baseUrl: "https://example.com/a/v1//" }],
    [
      'baseUrl must not have white space, a password or a query (got "https://example.com/?a").',
      { baseUrl: "https://example.com/?a" }
    ],
    [
      'Unknown option "maxRetry". The options are apiKey, baseUrl, fetch, timeoutMs, deadlineMs, maxRetries, onRequest, onResponse, onRetry.',
      { maxRetry: 3 }
    ],
    ["maxRetries must be a number of at least 0.", { maxRetries: -1 }],
    ["timeoutMs must be a number of at least 0.", { timeoutMs: "10s" }],
    ["deadlineMs must be a number of at least 0.", { deadlineMs: NaN }],
    // The value may be a secret.
    ["baseUrl must not have white space, a password or a query.", { baseUrl: "https://user:pass@example.com" }],
    ["baseUrl must start with http:// or https://.", { baseUrl: apiKey }],
    ["baseUrl must start with http:// or https://.", { baseUrl: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhY2N0XzEifQ.x" }]
  ])("throws a TypeError: %s", (message, given) => {
    try {
      createClient({ apiKey, baseUrl, ...given })
      assert.fail("it was accepted")
    } catch (error) {
      assert.instanceOf(error, TypeError)
      assert.strictEqual(error.message, message)
    }
  })

  it.each(["", "sk test\n", "sk_żółw", "sk_test_secret\u0000", "sk_test_secret ", " sk_test_secret"])(
    "rejects the key %j without repeating it",
    (apiKey) => {
      try {
        createClient({ apiKey, baseUrl })
        assert.fail("it was accepted")
      } catch (error) {
        assert.instanceOf(error, TypeError)
        if (apiKey !== "") assert.notInclude(String(error.stack), apiKey)
      }
    }
  )

  it.each([
    "",
    "api.example.com",
    "ftp://example.com",
    "https://user:pass@example.com",
    "https://example.com/?a",
    "/v1",
    "https://example.com/v1",
    "https://example.com/v1/",
    "https:///"
  ])("rejects %j as baseUrl", (baseUrl) => {
    assert.throws(() => createClient({ apiKey, baseUrl }), TypeError)
    assert.throws(() => createControlPlane({ baseUrl }), TypeError)
  })

  it("keeps the path of baseUrl and ignores slashes at its end", async () => {
    const { fetch, requests } = stub(() => json(record))
    await createClient({ apiKey, baseUrl: "https://example.com/govoice//", fetch }).invoices.get(id)
    assert.strictEqual(requests[0]!.url, `https://example.com/govoice/v1/invoices/${id}`)
  })

  it("returns a client whose methods work without `this` and that getInvoice accepts as a connection", async () => {
    const { fetch } = stub(() => json(record))
    const client = connect(fetch)
    const { get } = client.invoices
    assert.strictEqual((await get(id)).id, id)
    assert.strictEqual((await getInvoice(client, id)).id, id)
    assert.strictEqual((await getInvoice(createConnection({ apiKey, baseUrl, fetch }), id)).id, id)
  })

  it("looks up the global fetch for each call", async () => {
    const client = createClient({ apiKey, baseUrl })
    const original = globalThis.fetch
    try {
      globalThis.fetch = async () => json(record)
      assert.strictEqual((await client.invoices.get(id)).id, id)
    } finally {
      globalThis.fetch = original
    }
  })

  it("does not reveal the key when it is serialized", () => {
    const client = connect(stub(() => json(record)).fetch)
    assert.notInclude(JSON.stringify(client), apiKey)
    assert.notInclude(Object.values(client).join(), apiKey)
  })
})

describe("createControlPlane", () => {
  it("has no API key", () => {
    assert.throws(
      () => createControlPlane({ baseUrl, apiKey } as never),
      'Unknown option "apiKey". The options are baseUrl, fetch,'
    )
  })
})

describe("A call", () => {
  const { invoices, ...client } = connect(stub(() => assert.fail("a request was sent")).fetch)
  const session = createControlPlane({ baseUrl, fetch: stub(() => assert.fail("a request was sent")).fetch })

  it.each<[message: string, call: () => unknown]>([
    ['"timeout". The options are signal, timeoutMs, deadlineMs.', () => client.me({ timeout: 1 } as never)],
    ['"timeout". The options are signal,', () => session.organizations.create({ name: "A" }, { timeout: 1 } as never)],
    [
      '"idempotencyKey". The options are signal,',
      () => session.apiKeys.create("org_1", { mode: "test" }, { idempotencyKey: "a" } as never)
    ],
    [
      '"idempotencykey". The options are idempotencyKey, signal,',
      () => invoices.submit("<a/>", { idempotencykey: "a" } as never)
    ],
    [
      '"deadline". The options are idempotencyKey, onProgress,',
      () => invoices.submitAndWait("<a/>", { deadline: 1 } as never)
    ],
    ['"deadline". The options are onProgress, signal,', () => invoices.waitUntilFinal(id, { deadline: 1 } as never)],
    ['"deadline". The options are onProgress, signal,', () => invoices.waitForUpo(id, { deadline: 1 } as never)],
    ['"fromat". The options are code, format, label, signal,', () => invoices.qr(id, { fromat: "png" } as never)],
    ['"windw". The options are window, signal,', () => getOverview(session, "org_1", { windw: "7d" } as never)],
    ['"windw". The options are window, signal,', () => getDeliveryStats(session, "we_1", { windw: "7d" } as never)],
    ["timeoutMs must be a number of at least 0.", () => invoices.get(id, { timeoutMs: "10s" } as never)],
    ["deadlineMs must be a number of at least 0.", () => invoices.list({ deadlineMs: -1 }).page()],
    [
      "idempotencyKey belongs in the options: submit({ invoiceXml }, { idempotencyKey }).",
      () => invoices.submit({ invoiceXml: "<a/>", idempotencyKey: "a" } as never)
    ],
    ["invoiceXml must be a string: the document of the invoice.", () => (invoices.submit as () => unknown)()],
    ["invoiceXml must be a string: the document of the invoice.", () => (invoices.submitAndWait as () => unknown)()],
    [
      "invoiceXml must be a string: the document of the invoice.",
      () => invoices.submit({ invoiceXml: new Uint8Array() } as never)
    ]
  ])("is refused before a request is sent: %s", async (message, call) => {
    const error = await (async () => call())().then(
      () => assert.fail("it was accepted"),
      (error: unknown) => error as Error
    )
    assert.instanceOf(error, TypeError)
    assert.include(error.message, message)
  })
})

describe("submitInvoice", () => {
  it("sends the document, the metadata and the scenario", async () => {
    const { fetch, requests } = stub(() => json(record, { status: 201 }))
    const metadata = { orderId: "1", order_id: "2" }
    await connect(fetch).invoices.submit({
      invoiceXml: "<a>ż</a>",
      metadata,
      sandboxScenario: "delayed",
      checks: "schema"
    })
    const { body, headers, method } = requests[0]!
    assert.strictEqual(method, "POST")
    assert.deepStrictEqual(JSON.parse(body!), { invoice_xml: "<a>ż</a>", metadata })
    assert.strictEqual(headers["gov-sandbox-scenario"], "delayed")
    assert.strictEqual(headers["gov-sandbox-checks"], "schema")
    assert.strictEqual(headers["content-type"], "application/json")
  })

  it("sends unknown members, so that the service can reject them", async () => {
    const { fetch, requests } = stub(() => json(record, { status: 201 }))
    const misspelled = { invoiceXml: "<a/>", metaData: { a: "b" }, metadata: undefined }
    await connect(fetch).invoices.submit(misspelled)
    assert.deepStrictEqual(JSON.parse(requests[0]!.body!), { invoice_xml: "<a/>", meta_data: { a: "b" } })
  })

  it("takes a string as the document", async () => {
    const { fetch, requests } = stub(() => json({ ...record, status: "accepted", completed_at: "x" }, { status: 201 }))
    await connect(fetch).invoices.submit("<a>ż</a>")
    await connect(fetch).invoices.submitAndWait("<a>ż</a>")
    for (const { body } of requests) assert.deepStrictEqual(JSON.parse(body!), { invoice_xml: "<a>ż</a>" })
    assert.lengthOf(requests, 2)
  })

  it("generates one idempotency key for all attempts of a submission and returns it", async () => {
    const { fetch, requests } = stub((_, index) => (index % 2 === 0 ? problem(503, "busy", true) : json(record)))
    const seen: Array<RequestInfo> = []
    const client = connect(fetch, { onRequest: (info: RequestInfo) => seen.push(info) })
    const first = await client.invoices.submit({ invoiceXml: "<a/>" })
    const second = await client.invoices.submit({ invoiceXml: "<a/>" })
    const keys = requests.map(({ headers }) => headers["idempotency-key"])
    assert.match(keys[0]!, /^[0-9a-f-]{36}$/)
    assert.deepStrictEqual(
      keys,
      [first, first, second, second].map(({ idempotencyKey }) => idempotencyKey)
    )
    assert.notStrictEqual(keys[0], keys[2])
    assert.deepStrictEqual(
      seen.map(({ idempotencyKey }) => idempotencyKey),
      keys
    )
  })

  it.each(["", "a\nb", "ż", "\u0000"])(
    "rejects the idempotency key %j without sending a request",
    async (idempotencyKey) => {
      const { fetch, requests } = stub(() => json(record))
      const error = await rejection(submitInvoice(connect(fetch), { invoiceXml: "<a/>" }, { idempotencyKey }))
      assert.instanceOf(error, TypeError)
      assert.isEmpty(requests)
    }
  )
})

describe("Members in snake_case", () => {
  const controlPlane = createControlPlane({ baseUrl, fetch: stub(() => assert.fail("a request was sent")).fetch })
  const client = connect(stub(() => assert.fail("a request was sent")).fetch)

  it.each<[member: string, correct: string, call: () => Promise<unknown>]>([
    ["invoice_xml", "invoiceXml", () => client.invoices.submit({ invoice_xml: "<a/>" } as never)],
    [
      "sandbox_scenario",
      "sandboxScenario",
      () => client.invoices.submitAndWait({ invoiceXml: "<a/>", sandbox_scenario: "delayed" } as never)
    ],
    ["created_after", "createdAfter", () => client.invoices.list({ created_after: "x" } as never).page()],
    [
      "event_types",
      "eventTypes",
      () => controlPlane.webhookEndpoints.create("org_1", { url: "https://example.com", event_types: ["*"] } as never)
    ],
    [
      "private_key",
      "privateKey",
      () => controlPlane.organizations.setGatewayCredential("org_1", { private_key: "1" } as never)
    ]
  ])("%s is rejected with a message that names %s", async (member, correct, call) => {
    const error = await rejection(Promise.resolve().then(call))
    assert.instanceOf(error, TypeError)
    assert.strictEqual(
      error.message,
      `Unknown member "${member}". Write "${correct}": the client sends it as "${member}".`
    )
  })
})

describe("A fetch that stores responses", () => {
  // As the one of a framework: it stores what it may store, by method and URL.
  const patched = () => {
    const stored = new Map<string, Response>()
    let updates = 0
    const answer = (): Response =>
      json({ ...record, ...(updates++ < 2 ? {} : { status: "accepted", completed_at: "2026-11-20T09:00:01.000Z" }) })
    return async (url: string, { cache, method }: RequestInit) => {
      const key = `${method} ${url}`
      if (cache === "no-store") return answer()
      const response = stored.get(key) ?? answer()
      stored.set(key, response)
      return response.clone()
    }
  }

  it("is asked for fresh ones, so a wait ends", async () => {
    const client = connect(patched() as never)
    assert.strictEqual((await client.invoices.waitUntilFinal(id, { deadlineMs: 10_000 })).status, "accepted")
  })

  it("is not asked where the runtime does not know the member", async () => {
    const { Request } = globalThis
    const { fetch, requests } = stub(() => json(record))
    try {
      for (const runtime of [undefined, function Request() {}]) {
        globalThis.Request = runtime as never
        await connect(fetch).invoices.get(id)
      }
    } finally {
      globalThis.Request = Request
    }
    assert.lengthOf(requests, 2)
    for (const request of requests) assert.notProperty(request, "cache")
  })
})

describe("Retries", () => {
  it("waits a random time of at most 0.5 s before the second attempt and 1 s before the third", async () => {
    const delays: Array<Array<number>> = [[], []]
    const onRetry = ({ attempts, delayMs }: { attempts: number; delayMs: number }) =>
      delays[attempts - 1]!.push(delayMs)
    const signals = Array.from({ length: 40 }, async () => {
      const { fetch } = stub(() => problem(503, "busy", true))
      await rejection(connect(fetch, { onRetry }).invoices.get(id))
    })
    await Promise.all(signals)
    assert.strictEqual(delays[0]!.length, 40)
    assert.isTrue(delays[0]!.every((ms) => ms >= 0 && ms <= 500))
    assert.isTrue(delays[1]!.every((ms) => ms >= 0 && ms <= 1000))
    assert.isAbove(Math.max(...delays[0]!) - Math.min(...delays[0]!), 200)
    assert.isAbove(Math.max(...delays[1]!), 500)
  })

  it("waits a random time after a Retry-After, so that many calls do not come back at once", async () => {
    const delays: Array<number> = []
    const calls = Array.from({ length: 40 }, async () => {
      const stopping = new AbortController()
      const onRetry = ({ delayMs }: { delayMs: number }) => {
        delays.push(delayMs)
        stopping.abort()
      }
      const { fetch } = stub(() => problem(429, "rate_limit_exceeded", true, { "retry-after": "1" }))
      await rejection(connect(fetch, { onRetry }).invoices.get(id, { signal: stopping.signal }))
    })
    await Promise.all(calls)
    assert.strictEqual(delays.length, 40)
    assert.isTrue(delays.every((ms) => ms >= 1000 && ms <= 1500))
    assert.isAbove(Math.max(...delays) - Math.min(...delays), 200)
  })

  it("waits at most 8 s without Retry-After", async () => {
    const delays: Array<number> = []
    const stopping = new AbortController()
    const onRetry = ({ attempts, delayMs }: { attempts: number; delayMs: number }) => {
      delays.push(delayMs)
      if (attempts === 3) stopping.abort()
    }
    const original = Math.random
    const { setTimeout } = globalThis
    try {
      Math.random = () => 0.999_999
      globalThis.setTimeout = ((callback: () => void) => setTimeout(callback, 0)) as typeof globalThis.setTimeout
      const { fetch } = stub(() => problem(503, "busy", true))
      await rejection(
        connect(fetch, { maxRetries: 9, timeoutMs: Infinity, onRetry: (info: never) => onRetry(info) }).invoices.get(id)
      )
    } finally {
      Math.random = original
      globalThis.setTimeout = setTimeout
    }
    assert.isTrue(delays.every((ms) => ms <= 8000))
    assert.isAbove(Math.max(...delays), 7999)
    assert.strictEqual(delays.length, 9)
  })
})

describe("Hooks", () => {
  it("receive each request, response and retry, without secrets", async () => {
    const seen: Array<[string, object]> = []
    const { fetch } = stub((_, index) => (index === 0 ? problem(503, "busy", true) : json(record)))
    const client = connect(fetch, {
      onRequest: (info: object) => seen.push(["request", info]),
      onResponse: (info: object) => seen.push(["response", info]),
      onRetry: (info: object) => seen.push(["retry", info])
    })
    await client.invoices.get(id)
    assert.deepStrictEqual(
      seen.map(([what]) => what),
      ["request", "response", "retry", "request", "response"]
    )
    const url = `${baseUrl}/v1/invoices/${id}`
    assert.deepInclude(seen[0]![1], { method: "GET", url, attempts: 1 })
    assert.deepInclude(seen[1]![1], { status: 503, requestId: "req_1", attempts: 1 })
    assert.deepInclude(seen[3]![1], { attempts: 2 })
    assert.deepInclude(seen[4]![1], { status: 200 })
    assert.notInclude(JSON.stringify(seen), apiKey)
  })

  it("that throw, reject or hang do not fail or delay a call", async () => {
    const { fetch } = stub((_, index) => (index === 0 ? problem(503, "busy", true) : json(record)))
    const client = connect(fetch, {
      onRequest: () => {
        throw new Error("a")
      },
      onResponse: () => Promise.reject(new Error("b")),
      onRetry: () => new Promise(() => {})
    })
    assert.strictEqual((await client.invoices.get(id)).id, id)
  })
})

describe("Timeout, deadline and signal", () => {
  it("leave no listener on the signal after a call", async () => {
    const { signal } = new AbortController()
    const endings: ReadonlyArray<() => Response | Promise<Response>> = [
      () => json(record),
      () => problem(404, "invoice_not_found"),
      () => problem(503, "busy", true),
      () => json({}),
      () => Promise.reject(new Error("broken")),
      () => new Promise(() => {})
    ]
    for (const ending of endings) {
      const client = connect(stub(ending).fetch, { timeoutMs: 20 })
      await client.invoices.get(id, { signal }).catch(() => {})
      assert.isEmpty(getEventListeners(signal, "abort"))
    }
  })

  it("leave no timer after a call", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length
    const before = timers()
    const client = connect(stub(() => json(record)).fetch, { timeoutMs: 100_000 })
    await client.invoices.get(id)
    const stopping = new AbortController()
    const waiting = rejection(client.invoices.waitUntilFinal(id, { signal: stopping.signal }))
    await new Promise((resolve) => setImmediate(resolve))
    stopping.abort()
    await waiting
    assert.isAtMost(timers(), before)
  })

  it("end a call whose fetch ignores the signal", async () => {
    const client = connect(stub(() => new Promise(() => {})).fetch, { timeoutMs: 30, maxRetries: 0 })
    assert.strictEqual((await rejection(client.invoices.get(id)))._tag, "TimeoutError")
  })

  it("accept any duration", async () => {
    const { fetch } = stub(async () => {
      await new Promise((resolve) => setTimeout(resolve, 30))
      return json(record)
    })
    for (const bound of [2 ** 31, Infinity, Number.MAX_VALUE]) {
      const client = connect(fetch, { timeoutMs: bound, deadlineMs: bound, maxRetries: 0 })
      assert.strictEqual((await client.invoices.get(id)).id, id)
    }
  })

  it("of a call override those of the client", async () => {
    const { fetch } = stub(() => new Promise(() => {}))
    const client = connect(fetch, { timeoutMs: 100_000, maxRetries: 0 })
    assert.strictEqual((await rejection(client.invoices.get(id, { timeoutMs: 20 })))._tag, "TimeoutError")
    assert.strictEqual((await rejection(client.invoices.get(id, { deadlineMs: 20 })))._tag, "TimeoutError")
  })

  it("apply to a call that waits for a new access token", async () => {
    const { fetch } = stub(({ url }) =>
      url.endsWith("/login")
        ? json({ access_token: "a", token_type: "Bearer", expires_in: 1, refresh_token: "r", refresh_expires_in: 1 })
        : url.endsWith("/refresh")
          ? new Promise<Response>(() => {})
          : problem(401, "missing_access_token")
    )
    const controlPlane = createControlPlane({ baseUrl, fetch, maxRetries: 0 })
    await controlPlane.login({ email: "a@example.com", password: "p" })
    const error = await rejection(controlPlane.accounts.get({ timeoutMs: 50 }))
    assert.strictEqual(error._tag, "TimeoutError")
  })
})
