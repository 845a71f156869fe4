/**
 * The test cases of `@govoice/webhooks` for every runtime, run on the built files. The file is plain
 * JavaScript without imports and gets the library as an argument, so that any runtime can load it.
 */

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
const types = [
  "invoice.received",
  "invoice.submitted",
  "invoice.accepted",
  "invoice.upo_available",
  "invoice.rejected",
  "invoice.failed"
]

const assert = (holds, what) => {
  if (!holds) throw new Error(what)
}

const equal = (actual, expected, what) =>
  assert(Object.is(actual, expected), `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)

const toBytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

/** Resolves with "ok", the code of the error, or another error as a string. */
const outcome = async (run) => {
  try {
    await run()
    return "ok"
  } catch (error) {
    if (error?._tag !== "WebhookVerificationError") return String(error)
    return error.code
  }
}

/**
 * The cases. `library` is the root entry, `web` and `testing` are those entries, `sync` is true if the runtime has node:crypto.
 * `early` is a verifier that was created while the module was loaded.
 */
export const cases = ({ library, web, testing, vectors, sync, early }) => {
  const { createVerifier, sign, signSync, signedHeaders, WebhookVerificationError } = library
  const all = []
  const it = (name, run) => all.push({ name, run })
  const verifier = createVerifier({ secret })
  const sample = (options = {}) => testing.signedWebhookAsync({ secret, type: "invoice.accepted", ...options })

  for (const vector of vectors) {
    const { name, secrets, now, toleranceSeconds, headers, expect } = vector
    const body = vector.body ?? toBytes(vector.bodyBase64)
    const make = () => createVerifier({ secrets, now: () => now, toleranceSeconds })
    it(`vector: ${name}`, async () => {
      equal(await outcome(async () => make().verify(body, headers)), expect, "verify")
      if (typeof body === "string" && expect !== "bad_secret") {
        const bytes = new TextEncoder().encode(body)
        equal(await outcome(async () => make().verify(bytes, headers)), expect, "verify of bytes")
      }
      if (sync) equal(await outcome(async () => make().verifySync(body, headers)), expect, "verifySync")
    })
  }

  it("accepts bodies as string, bytes, part of a buffer and ArrayBuffer", async () => {
    const { body, headers } = await sample()
    const bytes = new TextEncoder().encode(body)
    const wide = new Uint8Array(bytes.length + 20).fill(7)
    wide.set(bytes, 10)
    for (const kind of [body, bytes, wide.subarray(10, 10 + bytes.length), bytes.buffer]) {
      const { event } = await verifier.verify(kind, headers)
      equal(event.type, "invoice.accepted", "type")
    }
  })

  it("accepts headers as Headers, record, Map, entries and iterable of entries", async () => {
    const { body, headers } = await sample()
    const entries = Object.entries(headers)
    const iterable = {
      *[Symbol.iterator]() {
        yield* entries
      }
    }
    const withoutPrototype = Object.assign(Object.create(null), headers)
    const more = new (class extends Headers {})(headers)
    for (const kind of [new Headers(headers), more, headers, withoutPrototype, new Map(entries), entries, iterable]) {
      equal(await outcome(() => verifier.verify(body, kind)), "ok", Object.prototype.toString.call(kind))
    }
  })

  it("rejects repeated headers, joined or not", async () => {
    const { body, headers } = await sample()
    const joined = new Headers(headers)
    joined.append("gov-timestamp", headers["Gov-Timestamp"])
    equal(await outcome(() => verifier.verify(body, joined)), "duplicate_header", "Headers")
    const twice = [...Object.entries(headers), ["gov-signature", headers["Gov-Signature"]]]
    equal(await outcome(() => verifier.verify(body, twice)), "duplicate_header", "entries")
  })

  it("rejects parsed bodies", async () => {
    const { body, headers } = await sample()
    // `new Uint8Array` would allocate 1 GB for the last one.
    for (const parsed of [JSON.parse(body), undefined, null, 7, [body], [1, 2], { length: 1e9, byteLength: 1e9 }]) {
      equal(await outcome(() => verifier.verify(parsed, headers)), "body_not_raw", JSON.stringify(parsed))
    }
  })

  it("rejects every webhook if the clock or the tolerance is NaN", async () => {
    const { body, headers } = await sample()
    for (const options of [{ now: () => NaN }, { toleranceSeconds: NaN }, { toleranceSeconds: -1 }]) {
      const { verify } = createVerifier({ secret, ...options })
      equal(await outcome(() => verify(body, headers)), "timestamp_too_old", String(Object.keys(options)))
    }
  })

  it("returns the id, the timestamp and the event", async () => {
    const now = Date.now()
    const { body, headers, event } = await sample({ now })
    const webhook = await verifier.verify(body, headers)
    equal(webhook.id, event.id, "id")
    equal(webhook.timestamp.getTime(), now, "timestamp")
    equal(JSON.stringify(webhook.event), body, "event")
  })

  it("verifies a Request, and rejects one that was read before", async () => {
    const { request } = await sample()
    const copy = request.clone()
    equal((await verifier.verifyRequest(request)).event.type, "invoice.accepted", "type")
    equal(await outcome(() => verifier.verifyRequest(request)), "body_not_raw", "read before")
    await copy.text()
    equal(await outcome(() => verifier.verifyRequest(copy)), "body_not_raw", "read as text")
  })

  it("verifies concurrent webhooks independently", async () => {
    const samples = await Promise.all(Array.from({ length: 20 }, () => sample()))
    const outcomes = await Promise.all(
      samples.map(({ body, headers }, index) => outcome(() => verifier.verify(index % 2 ? body : `${body} `, headers)))
    )
    outcomes.forEach((code, index) => equal(code, index % 2 ? "ok" : "no_match", `webhook ${index}`))
  })

  it("returns the verified body even if the caller changes the buffer during verification", async () => {
    const { body, headers } = await sample()
    const bytes = new TextEncoder().encode(body)
    const verified = verifier.verify(bytes, headers)
    bytes.fill(32)
    equal(JSON.stringify((await verified).event), body, "event")
  })

  it("verifies with a verifier that was created while the module was loaded", async () => {
    const { body, headers } = await sample()
    equal(await outcome(() => early.verify(body, headers)), "ok", "verify")
  })

  it("throws an error with cause and remedy, without secrets", async () => {
    const { body, headers } = await sample()
    const other = createVerifier({ secret: `${secret}x` })
    const error = await other.verify(body, headers).then(
      () => undefined,
      (reason) => reason
    )
    assert(error instanceof WebhookVerificationError && error instanceof Error, "class")
    equal(error.name, "WebhookVerificationError", "name")
    equal(error.code, "no_match", "code")
    equal(error.status, 400, "status")
    assert(error.message.includes("the body is unparsed"), "the remedy")
    const told = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join()
    for (const part of [secret, body.slice(10, 40), headers["Gov-Signature"].slice(3, 20)]) {
      assert(!told.includes(part), `told ${part}`)
    }
  })

  it("signs webhooks that verify, with every signer", async () => {
    const body = '{"id":"evt_1","note":"Zażółć"}'
    const timestamp = new Date()
    const signature = await sign({ secret, timestamp, body })
    equal(
      signature,
      await sign({ secret, timestamp: timestamp.toISOString(), body: new TextEncoder().encode(body) }),
      "bytes"
    )
    const headers = await signedHeaders({ id: "evt_1", secret, timestamp, body })
    equal(headers["Gov-Signature"], signature, "signedHeaders")
    equal(await outcome(() => verifier.verify(body, headers)), "ok", "verify")
    if (sync) equal(signSync({ secret, timestamp, body }), signature, "signSync")
    equal(await outcome(async () => sign({ secret: "nope", timestamp, body })), "bad_secret", "secret")
    equal(await outcome(async () => sign({ secret, timestamp, body: { parsed: true } })), "body_not_raw", "body")
  })

  it(sync ? "verifies synchronously" : "names the asynchronous function if node:crypto is missing", async () => {
    const { body, headers } = await sample()
    const first = await outcome(async () => verifier.verifySync(body, headers))
    const second = await outcome(async () => signSync({ secret, timestamp: new Date(), body }))
    if (sync) {
      equal(first, "ok", "verifySync")
      equal(second, "ok", "signSync")
    } else {
      assert(/Use verify\b/.test(first), `verifySync: ${first}`)
      assert(/Use sign\b/.test(second), `signSync: ${second}`)
    }
  })

  for (const type of types) {
    it(`returns a signed sample of ${type}`, async () => {
      const { body, headers, request } = await sample({ type })
      equal((await verifier.verify(body, headers)).event.type, type, "body and headers")
      equal((await verifier.verifyRequest(request)).event.data.invoice.object, "invoice", "request")
    })
  }

  it("responds to a Request with 204, 400, 405, 413, 500", async () => {
    const handled = []
    const errors = []
    const options = { secret, maxBodyBytes: 5000, onError: (error) => errors.push(error) }
    const handler = web.createHandler(options, async ({ event }) => {
      if (event.type === "invoice.failed") throw new Error("the handler fails")
      handled.push(event.id)
    })
    const { request, event } = await sample()
    equal((await handler(request)).status, 204, "good")
    equal(handled.join(), event.id, "handled")
    const tampered = await sample()
    const headers = { ...tampered.headers, "Gov-Timestamp": new Date(0).toISOString() }
    const refused = await handler(new Request("https://example.com/", { method: "POST", headers, body: tampered.body }))
    equal(refused.status, 400, "stale")
    assert((await refused.text()).startsWith("timestamp_too_old"), "says why")
    const get = await handler(new Request("https://example.com/"))
    equal(get.status, 405, "GET")
    equal(get.headers.get("allow"), "POST", "Allow")
    const large = await sample({ data: { invoice: { metadata: { large: "x".repeat(6000) } } } })
    equal((await handler(large.request)).status, 413, "large")
    equal((await handler((await sample({ type: "invoice.failed" })).request)).status, 500, "failing handler")
    const read = await sample()
    await read.request.text()
    equal((await handler(read.request)).status, 500, "read before")
    equal(errors.length, 2, "errors that were reported")
    equal(errors[1].code, "body_not_raw", "the second")
    equal(handled.length, 1, "handled in all")
  })

  it("does not handle an event for which seen returns true", async () => {
    const ids = new Set()
    let handled = 0
    const handler = web.createHandler({ secret, seen: async (id) => ids.has(id) }, ({ id }) => {
      handled += 1
      ids.add(id)
    })
    const first = await sample()
    const again = await sample({ id: first.event.id })
    equal((await handler(first.request)).status, 204, "first")
    equal((await handler(again.request)).status, 204, "again")
    equal(handled, 1, "handled")
  })

  return all
}

/** Runs the cases and resolves with their number and the failures. */
export const run = async (subject) => {
  const failures = []
  const list = cases(subject)
  for (const { name, run } of list) {
    try {
      await run()
    } catch (error) {
      failures.push(`${name}: ${error?.stack ?? error}`)
    }
  }
  return { cases: list.length, failures }
}

/** Creates a verifier while the module is loaded. */
export const makeEarly = ({ createVerifier }) => createVerifier({ secret })
