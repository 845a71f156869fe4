/** Runs one suite for all adapters on real servers. */
import { createVerifier, type WebhookVerificationError } from "@govoice/webhooks"
import { createHandler as createExpressHandler } from "@govoice/webhooks/express"
import { createHandler as createFastifyHandler } from "@govoice/webhooks/fastify"
import { createHandler as createNodeHandler, type HandlerOptions } from "@govoice/webhooks/node"
import { createHandler as createWebHandler } from "@govoice/webhooks/web"
import { signedWebhook } from "@govoice/webhooks/testing"
import express5 from "express"
import fastify5 from "fastify"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { assert, describe, it, vi } from "vitest"
import {
  closers,
  adapters,
  express4,
  listen,
  post,
  secret,
  type Start,
  startExpress,
  startFastify,
  startWeb
} from "./support/adapters.ts"

describe.each(adapters)("%s", (_name, start) => {
  it("answers 204 after the handler has finished", async () => {
    const events: Array<string> = []
    const webhook = signedWebhook({ secret, type: "invoice.accepted" })
    const url = await start({ secret }, async ({ event }) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      events.push(event.id)
    })
    const response = await post(url, webhook)
    assert.strictEqual(response.status, 204)
    assert.deepStrictEqual(events, [webhook.event.id])
    assert.strictEqual(await response.text(), "")
  })

  it("passes a body with Polish text in several chunks to the handler unchanged", async () => {
    const note = "Zażółć gęślą jaźń ".repeat(2000)
    const webhook = signedWebhook({ secret, type: "invoice.accepted", data: { invoice: { metadata: { note } } } })
    let seen = ""
    const url = await start({ secret }, ({ event }) => {
      seen = JSON.stringify(event)
    })
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(url, { method: "POST", headers: webhook.headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on("error", reject)
      const bytes = Buffer.from(webhook.body)
      for (let at = 0; at < bytes.length; at += 997) request.write(bytes.subarray(at, at + 997))
      request.end()
    })
    assert.strictEqual(status, 204)
    assert.strictEqual(seen, webhook.body)
  })

  it("answers 400 with the code for a webhook that does not verify, and does not call the handler", async () => {
    let handled = 0
    const rejected: Array<string> = []
    const onRejected = ({ code }: WebhookVerificationError) => rejected.push(code)
    const url = await start({ secret, onRejected }, () => {
      handled += 1
    })
    const { body, headers } = signedWebhook({ secret, type: "invoice.accepted" })
    const stale = signedWebhook({ secret, type: "invoice.accepted", now: Date.now() - 3_600_000 })
    for (const [webhook, code] of [
      [{ body: body.replace("accepted", "rejected"), headers }, "no_match"],
      [stale, "timestamp_too_old"],
      [{ body, headers: {} }, "missing_header"],
      [{ body: "", headers }, "no_match"]
    ] as const) {
      const response = await post(url, webhook)
      assert.strictEqual(response.status, 400, code)
      assert.match(await response.text(), new RegExp(`^${code}`))
    }
    assert.strictEqual(handled, 0)
    assert.deepStrictEqual(rejected, ["no_match", "timestamp_too_old", "missing_header", "no_match"])
  })

  it("passes the request to onRejected and not to onError", async () => {
    const methods: Array<unknown> = []
    const errors: Array<unknown> = []
    const options: HandlerOptions<{ readonly method?: string }> = {
      secret,
      onRejected: (_error, { method }) => methods.push(method),
      onError: (error) => errors.push(error)
    }
    const url = await start(options as HandlerOptions, () => {})
    assert.strictEqual((await post(url, { body: "{}", headers: {} })).status, 400)
    assert.deepStrictEqual(methods, ["POST"])
    assert.deepStrictEqual(errors, [])
  })

  it.each([
    [
      "throws",
      () => {
        throw new Error("The log is full")
      }
    ],
    ["rejects", () => Promise.reject(new Error("The log is full"))]
  ])("answers 400 also when onRejected %s", async (_how, onRejected) => {
    const url = await start({ secret, onRejected }, () => {})
    assert.strictEqual((await post(url, { body: "{}", headers: {} })).status, 400)
  })

  it("warns of a rejected webhook by default, without secret, signature or body", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue(undefined)
    try {
      const url = await start({ secret: `${secret}x` }, () => {})
      const { body, headers } = signedWebhook({ secret, type: "invoice.accepted" })
      assert.strictEqual((await post(url, { body, headers })).status, 400)
      const lines = warn.mock.calls.map(([line]) => String(line))
      assert.deepStrictEqual(lines, [
        "Webhook rejected: no_match: No signature matches. Check that secret is the complete whsec_… value of this endpoint and that the body is unparsed."
      ])
      for (const part of [secret, headers["Gov-Signature"]!.slice(3, 20), body.slice(10, 40)]) {
        assert.notInclude(lines.join(), part)
      }
    } finally {
      warn.mockRestore()
    }
  })

  it("answers 405 to methods other than POST", async () => {
    const url = await start({ secret }, () => {})
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await fetch(url, { method })
      assert.strictEqual(response.status, 405, method)
      assert.strictEqual(response.headers.get("allow"), "POST")
    }
  })

  it("answers 413 to a body over the limit, with and without Content-Length", async () => {
    let handled = 0
    const url = await start({ secret, maxBodyBytes: 10_000 }, () => {
      handled += 1
    })
    const metadata = { note: "x".repeat(20_000) }
    const { body, headers } = signedWebhook({ secret, type: "invoice.accepted", data: { invoice: { metadata } } })
    assert.strictEqual((await post(url, { body, headers })).status, 413)
    const inPieces = await new Promise((resolve, reject) => {
      const request = httpRequest(
        url,
        { method: "POST", headers: { ...headers, "Transfer-Encoding": "chunked" } },
        (response) => {
          response.resume()
          resolve([response.statusCode, response.headers.connection])
        }
      )
      request.on("error", reject)
      request.write(body.slice(0, 12_000))
      request.end(body.slice(12_000))
    })
    // Otherwise the rest is read for as long as the client sends.
    assert.deepStrictEqual(inPieces, [413, "close"])
    assert.strictEqual(handled, 0)
    const small = signedWebhook({ secret, type: "invoice.accepted" })
    assert.strictEqual((await post(url, small)).status, 204)
  })

  it("answers 500 when the handler fails, and passes the error to onError only", async () => {
    const errors: Array<unknown> = []
    const failure = new Error("The database of invoices is down")
    const url = await start({ secret, onError: (error) => errors.push(error) }, async () => {
      throw failure
    })
    const response = await post(url, signedWebhook({ secret, type: "invoice.failed" }))
    assert.strictEqual(response.status, 500)
    assert.strictEqual(await response.text(), "")
    assert.deepStrictEqual(errors, [failure])
  })

  it("answers 500 when the handler throws a WebhookVerificationError", async () => {
    const errors: Array<unknown> = []
    const url = await start({ secret, onError: (error) => errors.push(error) }, () =>
      createVerifier({ secret }).verify("", {})
    )
    assert.strictEqual((await post(url, signedWebhook({ secret, type: "invoice.accepted" }))).status, 500)
    assert.strictEqual(errors.length, 1)
  })

  it("answers 500 when the handler throws and onError rejects", async () => {
    const url = await start({ secret, onError: () => Promise.reject(new Error("The log is full")) }, () => {
      throw new Error("The handler fails")
    })
    assert.strictEqual((await post(url, signedWebhook({ secret, type: "invoice.failed" }))).status, 500)
  })

  it("answers 500 when the handler and onError throw", async () => {
    const onError = () => {
      throw new Error("The log is full")
    }
    const url = await start({ secret, onError }, () => {
      throw new Error("The handler fails")
    })
    assert.strictEqual((await post(url, signedWebhook({ secret, type: "invoice.failed" }))).status, 500)
  })

  it("answers 500 without calling the handler when `seen` fails", async () => {
    const errors: Array<unknown> = []
    let handled = 0
    const failure = new Error("The database of ids is down")
    const options: HandlerOptions = {
      secret,
      seen: () => {
        throw failure
      },
      onError: (error) => errors.push(error)
    }
    const url = await start(options, () => {
      handled += 1
    })
    assert.strictEqual((await post(url, signedWebhook({ secret, type: "invoice.accepted" }))).status, 500)
    assert.deepStrictEqual(errors, [failure])
    assert.strictEqual(handled, 0)
  })

  it("calls the handler again after a failure, but not for an event that was seen", async () => {
    const ids = new Set<string>()
    let attempts = 0
    const url = await start({ secret, seen: async (id) => ids.has(id), onError: () => {} }, ({ id }) => {
      attempts += 1
      if (attempts === 1) throw new Error("once")
      ids.add(id)
    })
    const id = "evt_01kq5v4zfxe1r8t0m3n5p7q9sv"
    const statuses: Array<number> = []
    for (let attempt = 0; attempt < 4; attempt += 1) {
      statuses.push((await post(url, signedWebhook({ secret, type: "invoice.accepted", id }))).status)
    }
    assert.deepStrictEqual(statuses, [500, 204, 204, 204])
    assert.strictEqual(attempts, 2)
  })

  it("handles further requests after a truncated request", async () => {
    const errors: Array<unknown> = []
    const url = await start({ secret, onError: (error) => errors.push(error) }, () => errors.push("handled"))
    const { port } = new URL(url)
    const socket = connect(Number(port), "127.0.0.1")
    socket.write(
      "POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.notInclude(errors, "handled")
    assert.strictEqual((await post(url, signedWebhook({ secret, type: "invoice.accepted" }))).status, 204)
  })

  it("throws bad_secret when it is created with an invalid secret", async () => {
    let code: unknown
    await (async () => start({ secret: "nope" }, () => {}))().catch((error: unknown) => {
      code = (error as { readonly code: unknown }).code
    })
    assert.strictEqual(code, "bad_secret")
  })
})

describe("createHandler", () => {
  const createHandler = createWebHandler as (...given: ReadonlyArray<unknown>) => unknown

  it.each<[message: string, given: ReadonlyArray<unknown>]>([
    [
      'Unknown option "tolerance". The options are secret, secrets, toleranceSeconds, now, maxBodyBytes, seen, onError, onRejected.',
      [{ secret, tolerance: 1e9 }, () => {}]
    ],
    ["toleranceSeconds must be a number of at least 0.", [{ secret, toleranceSeconds: "5m" }, () => {}]],
    ["maxBodyBytes must be a number of at least 0.", [{ secret, maxBodyBytes: "1MB" }, () => {}]],
    ["onWebhook must be a function: createHandler(options, onWebhook).", [{ secret }]]
  ])("throws a TypeError: %s", (message, given) => {
    assert.throws(() => createHandler(...given), TypeError, message)
  })

  it("without options asks for the secret", () => {
    assert.throws(() => createHandler(undefined, () => {}), "bad_secret: secret is undefined: is WEBHOOK_SECRET set?")
  })
})

describe("An application with a body parser", () => {
  it.each<[name: string, start: Start]>([
    ["Express 5", startExpress(express5, (app) => app.use(express5.json()))],
    ["Express 4", startExpress(express4, (app) => app.use(express4.json()))],
    [
      "node:http",
      (options, onWebhook) => {
        const handler = createNodeHandler(options, onWebhook)
        return listen((request, response) => {
          request.on("data", () => {}).on("end", () => void handler(request, response))
        })
      }
    ],
    [
      "Fetch",
      startWeb((handler) => async (request) => {
        await request.text()
        return handler(request)
      })
    ]
  ])("on %s answers 500 with body_not_raw to a parsed body, so that the service retries", async (_name, start) => {
    const errors: Array<Partial<WebhookVerificationError>> = []
    const url = await start({ secret, onError: (error) => errors.push(error as WebhookVerificationError) }, () =>
      errors.push({})
    )
    const response = await post(url, signedWebhook({ secret, type: "invoice.accepted" }))
    assert.strictEqual(response.status, 500)
    assert.match(await response.text(), /^body_not_raw: .*raw body/)
    assert.deepStrictEqual(
      errors.map(({ code }) => code),
      ["body_not_raw"]
    )
  })

  it("on Express 4 accepts a webhook whose body express.json() skipped", async () => {
    const start = startExpress(express4, (app) => app.use(express4.json({ type: "application/never" })))
    const url = await start({ secret }, () => {})
    assert.strictEqual((await post(url, signedWebhook({ secret, type: "invoice.accepted" }))).status, 204)
  })
})

describe("A request that other middleware has answered", () => {
  it.each<[name: string, express: typeof express5]>([
    ["Express 5", express5],
    ["Express 4", express4]
  ])("gets no second answer on %s", async (_name, express) => {
    const app = express()
    // Like a timeout middleware.
    app.use((_request, response, next) => {
      setTimeout(() => response.status(503).end(), 20)
      next()
    })
    const handler = createExpressHandler({ secret }, () => new Promise((resolve) => setTimeout(resolve, 60)))
    let ended: Promise<void> | undefined
    app.use((request, response) => {
      ended = handler(request, response)
      ended.catch(() => {})
    })
    const url = await listen(app)
    assert.strictEqual((await post(url, signedWebhook({ secret, type: "invoice.accepted" }))).status, 503)
    await ended
  })
})

describe("The Fastify plugin", () => {
  it("answers 500 with body_not_raw when a hook of the application has parsed the body", async () => {
    const errors: Array<Partial<WebhookVerificationError>> = []
    const app = fastify5()
    app.addHook("preValidation", async (request) => {
      request.body = JSON.parse(String(request.body)) as unknown
    })
    const onError = (error: unknown) => errors.push(error as WebhookVerificationError)
    await app.register(
      createFastifyHandler({ secret, onError }, () => {}),
      { path: "/webhooks" }
    )
    closers.push(() => app.close())
    const url = await app.listen({ port: 0, host: "127.0.0.1" })
    const response = await post(`${url}/webhooks`, signedWebhook({ secret, type: "invoice.accepted" }))
    assert.strictEqual(response.status, 500)
    assert.deepStrictEqual(
      errors.map(({ code }) => code),
      ["body_not_raw"]
    )
  })

  it("keeps the content type parsers of the application", async () => {
    const url = await startFastify(fastify5)({ secret }, () => {})
    const headers = { "content-type": "application/json" }
    const response = await fetch(url.replace("/webhooks", "/json"), { method: "POST", headers, body: '{"parsed":1}' })
    assert.deepStrictEqual(await response.json(), { parsed: 1 })
  })
})
