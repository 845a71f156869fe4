/** Errors of the client, on a stubbed `fetch`. */
import { assert, describe, it } from "vitest"
import { type ApiError, createClient, GovoiceError, isApiError, isGovoiceError } from "../src/index.ts"
import { apiKey, baseUrl, connect, rejection } from "./support/connect.ts"
import { id, json, problem, record, stub } from "./support/stub.ts"

describe("Errors", () => {
  it("are recognized by the guards without their class", async () => {
    const error = await rejection(connect(stub(() => problem(409, "idempotency_conflict")).fetch).invoices.get(id))
    const copy = Object.assign(new Error(error.message), Object.fromEntries(Object.entries(error)))
    assert.isTrue(isApiError(copy, "idempotency_conflict"))
    assert.isTrue(isGovoiceError(copy))
    assert.isFalse(isApiError(copy, "limit_reached"))
    for (const other of [undefined, null, "ApiError", new Error("ApiError"), { _tag: "Other" }]) {
      assert.isFalse(isApiError(other))
      assert.isFalse(isGovoiceError(other))
    }
  })

  it("have the request id of the last response, from its header or its envelope", async () => {
    const envelope = { type: "api_error", code: "busy", message: "", param: null, request_id: "req_2", retryable: true }
    const bare = (text: string) => new Response(text, { status: 503 })
    for (const [text, requestId] of [
      [JSON.stringify({ error: envelope }), "req_2"],
      ["<html>", undefined]
    ] as const) {
      const { fetch } = stub((_, index) => (index === 0 ? problem(503, "busy", true) : bare(text)))
      const error = await rejection(connect(fetch, { maxRetries: 1 }).invoices.get(id))
      assert.strictEqual(error.requestId, requestId)
      assert.strictEqual(error.attempts, 2)
    }
  })

  it.each<[message: string, baseUrl: string, thrown: unknown]>([
    [
      "Connection to api.example.com:443 failed: ECONNREFUSED (attempts: 2). Is the server running?",
      "https://api.example.com/govoice",
      Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) })
    ],
    [
      "Connection to api.example.com:80 failed: ConnectionRefused (attempts: 2). Is the server running?",
      "http://api.example.com",
      Object.assign(new Error("x"), { code: "ConnectionRefused" })
    ],
    [
      "Connection to api.example.com:3000 failed: ERR_SSL_WRONG_VERSION_NUMBER (attempts: 2). The server speaks http.",
      "https://api.example.com:3000",
      Object.assign(new TypeError("fetch failed"), { cause: { code: "ERR_SSL_WRONG_VERSION_NUMBER" } })
    ],
    [
      "Connection to [::1]:443 failed: TypeError (attempts: 2). Check baseUrl and proxies.",
      "https://[::1]/",
      new TypeError("Bearer sk_test_secret")
    ],
    [
      "Connection to [::1]:3000 failed: TypeError (attempts: 2). Check baseUrl and proxies.",
      "http://[::1]:3000",
      new TypeError("Failed to fetch")
    ],
    ["Connection to a:3000 failed: undefined (attempts: 2). Check baseUrl and proxies.", "http://a:3000", undefined]
  ])("name host, port, cause and attempts: %s", async (message, baseUrl, thrown) => {
    const { fetch } = stub(() => Promise.reject(thrown as Error))
    const error = await rejection(createClient({ apiKey, baseUrl, fetch, maxRetries: 1 }).invoices.get(id))
    assert.strictEqual(error._tag, "ConnectionError")
    assert.strictEqual(error.message, message)
    assert.strictEqual(error.cause, thrown)
  })

  it("name the host and the timeout, and the status of a response that is not from the API", async () => {
    const hanging = connect(stub(() => new Promise(() => {})).fetch, { timeoutMs: 20, maxRetries: 0 })
    assert.strictEqual(
      (await rejection(hanging.invoices.get(id))).message,
      "No response from api.example.com:443 within 20 ms."
    )
    assert.strictEqual(
      (await rejection(hanging.invoices.waitUntilFinal(id, { deadlineMs: 10 }))).message,
      "The invoice is still without an answer after 10 ms. Call again to continue."
    )
    const proxied = connect(stub(() => new Response("<html>", { status: 404 })).fetch)
    assert.strictEqual(
      (await rejection(proxied.invoices.get(id))).message,
      "The response (HTTP 404) is not from the API. Check baseUrl and proxies."
    )
  })

  it("of a wait name the status that the invoice still has, and how to continue", async () => {
    const waiting = async (
      more: object,
      wait: (invoices: ReturnType<typeof connect>["invoices"]) => Promise<unknown>
    ) => (await rejection(wait(connect(stub(() => json({ ...record, ...more })).fetch).invoices))).message
    const limit = { deadlineMs: 30 }
    assert.strictEqual(
      await waiting({ status: "queued" }, ({ waitUntilFinal }) => waitUntilFinal(id, limit)),
      "The invoice is still queued after 30 ms. Call again to continue."
    )
    assert.strictEqual(
      await waiting({ status: "submitted" }, ({ submitAndWait }) => submitAndWait("<a/>", limit)),
      "The invoice is still submitted after 30 ms. Call again with this idempotencyKey to continue."
    )
    assert.strictEqual(
      await waiting({ status: "accepted", upo_available: false }, ({ waitForUpo }) => waitForUpo(id, limit)),
      "The invoice still has no receipt (UPO) after 30 ms. Call again to continue."
    )
  })

  it("of the API have the URL of the page about their code", async () => {
    const notFound = () => problem(404, "invoice_not_found")
    const error = (await rejection(connect(stub(notFound).fetch).invoices.get(id))) as ApiError
    assert.strictEqual(error.docsUrl, `${baseUrl}/docs/errors/invoice_not_found`)
    const below = createClient({ apiKey, baseUrl: "https://example.com/govoice/", fetch: stub(notFound).fetch })
    const other = (await rejection(below.invoices.get(id))) as ApiError
    assert.strictEqual(other.docsUrl, "https://example.com/govoice/docs/errors/invoice_not_found")
    const proxied = connect(stub(() => new Response("<html>", { status: 404 })).fetch)
    const unexpected = (await rejection(proxied.invoices.get(id))) as ApiError
    assert.strictEqual(unexpected.code, "unexpected_response")
    assert.isUndefined(unexpected.docsUrl)
  })

  it("are instances of Error with the name of their class", async () => {
    const error = await rejection(connect(stub(() => problem(404, "invoice_not_found")).fetch).invoices.get(id))
    assert.isTrue(error instanceof GovoiceError)
    assert.strictEqual(String(error), "ApiError: Why.")
  })
})

describe("An error of fetch that has a digest", () => {
  it("is how Next.js ends the prerendering of a page, and arrives as it is, without another attempt", async () => {
    const error = Object.assign(new Error("Dynamic server usage"), { digest: "DYNAMIC_SERVER_USAGE" })
    let attempts = 0
    const fetch = async () => {
      attempts += 1
      throw error
    }
    const client = createClient({ apiKey: "sk_test_1", baseUrl: "https://example.com", fetch })
    assert.strictEqual(await client.me().catch((thrown: unknown) => thrown), error)
    assert.strictEqual(attempts, 1)
  })
})
