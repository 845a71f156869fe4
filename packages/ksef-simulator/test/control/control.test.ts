import { assert, describe, it } from "vitest"
import { Client } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { manualTime, start } from "../support/simulator.ts"

interface Control {
  readonly ids: ReadonlyArray<number | null>
  readonly faults: ReadonlyArray<{
    readonly id: number
    readonly fault: object
    readonly seen: number
    readonly fired: number
  }>
  readonly error: string
  readonly now: number
  readonly token: string
  readonly certificate: string
  readonly privateKey: string
  readonly status: string
  readonly overLimit: number
  readonly totalCalls: number
  readonly accepted: ReadonlyArray<{ readonly ksefNumber: string; readonly sha256: string }>
  readonly calls: ReadonlyArray<{ readonly operation: string; readonly status: number | null }>
}

const control =
  (url: string) =>
  async (method: string, path: string, body?: unknown, type = "application/json") => {
    const response = await fetch(new URL(`/_simulator/${path}`, url), {
      method,
      ...(body === undefined
        ? {}
        : { headers: { "content-type": type }, body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    return { status: response.status, json: (await response.json()) as Control }
  }

describe("/_simulator", () => {
  it("adds, lists and removes faults", async () => {
    const simulator = await start()
    const call = control(simulator.url)
    assert.deepStrictEqual((await call("POST", "faults", { do: "5xx", on: "getRateLimits" })).json.ids, [1])
    assert.deepStrictEqual((await call("POST", "faults", [{ do: "drop-before" }, { do: "rotate-keys" }])).json.ids, [
      2,
      null
    ])
    const client = await Client.login(simulator).catch(() => undefined)
    assert.isUndefined(client)
    const listed = (await call("GET", "faults")).json.faults
    assert.deepStrictEqual(
      listed.map(({ fault, fired, id }) => [id, fault, fired]),
      [
        [1, { do: "5xx", on: "getRateLimits" }, 0],
        [2, { do: "drop-before" }, 1]
      ]
    )
    assert.deepStrictEqual(
      (await call("DELETE", "faults?id=1")).json.faults.map(({ id }) => id),
      [2]
    )
    assert.isEmpty((await call("DELETE", "faults")).json.faults)
  })

  it("moves the clock forward, and never back", async () => {
    const time = manualTime()
    const simulator = await start({ now: time.now })
    const call = control(simulator.url)
    assert.strictEqual((await call("GET", "clock")).json.now, time.now())
    assert.strictEqual((await call("POST", "clock", { advanceMs: 60_000 })).json.now, time.now() + 60_000)
    for (const advanceMs of [-1, "1", null, undefined]) {
      assert.strictEqual((await call("POST", "clock", { advanceMs })).status, 400)
    }
    assert.strictEqual(simulator.clock.now(), time.now() + 60_000)
  })

  it("issues tokens and certificates for any context", async () => {
    const simulator = await start()
    const call = control(simulator.url)
    const issued = (await call("POST", "tokens", { context: "5260250274", permissions: ["InvoiceRead"] })).json
    const client = await Client.login(simulator, issued.token, "5260250274")
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
    for (const body of [
      { nip: "5260250274" },
      { nip: "5260250274", context: "5260250274-DE123456789" },
      { nip: "5260250274", key: "rsa", kind: "offline" }
    ]) {
      const { certificate, privateKey } = (await call("POST", "certificates", body)).json
      assert.match(certificate, /^-----BEGIN CERTIFICATE-----/)
      assert.match(privateKey, /^-----BEGIN PRIVATE KEY-----/)
    }
  })

  it("returns calls, accepted documents and calls over a limit", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    const invoice = await client.submit(await client.open(), fa3())
    for (let call = 0; call < 12; call++) await client.call("GET", "/rate-limits")
    const { json } = await control(simulator.url)("GET", "ledger")
    assert.strictEqual(json.accepted[0]?.ksefNumber, invoice.ksefNumber)
    assert.strictEqual(json.overLimit, simulator.ledger.overLimit)
    assert.isAtLeast(json.overLimit, 1)
    assert.strictEqual(json.totalCalls, json.calls.length)
    assert.deepInclude(json.calls[0], { operation: "createChallenge", status: 200 })
  })

  it.each<[method: string, path: string, body: unknown, message: string]>([
    ["POST", "faults", { do: "nothing" }, 'Expected "do" to be one of 429'],
    ["POST", "faults", [{ do: "stall" }, { do: "nothing" }], 'Expected "do" to be one of 429'],
    ["POST", "clock", [], "Expected a JSON object."],
    [
      "POST",
      "tokens",
      { context: "1" },
      'Expected "context" to be the value of a context of the type Nip or InternalId.'
    ],
    [
      "POST",
      "tokens",
      { context: "5265877635", permissions: ["All"] },
      'Expected "permissions" to be some of InvoiceRead'
    ],
    [
      "POST",
      "certificates",
      { nip: "5265877635", context: "5265877635-12345" },
      'Expected "context" to be the value of a context of the type InternalId or NipVatUe.'
    ],
    ["POST", "certificates", { nip: "5265877635", key: "dsa" }, 'Expected "key" to be "ec" or "rsa".'],
    ["POST", "certificates", { nip: "5265877635", kind: "x" }, 'Expected "kind" to be "authentication" or "offline".'],
    ["POST", "beacon", { status: "GOOD" }, 'Expected "status" to be one of AVAILABLE'],
    ["POST", "beacon", "{", "Expected a JSON object."]
  ])("%s %s with %j is a 400 that says what was expected", async (method, path, body, message) => {
    const simulator = await start()
    const { json, status } = await control(simulator.url)(method, path, body)
    assert.strictEqual(status, 400)
    assert.include(json.error, message)
    assert.isEmpty(simulator.faults.list())
  })

  it("accepts changes as JSON only, which a page of another origin cannot send, and answers no preflight", async () => {
    const simulator = await start()
    const call = control(simulator.url)
    const { json, status } = await call("POST", "faults", '{"do":"stall"}', "text/plain")
    assert.deepStrictEqual(
      [status, json.error],
      [400, "Expected a body in JSON, with the content type application/json."]
    )
    const preflight = await fetch(new URL("/_simulator/faults", simulator.url), {
      method: "OPTIONS",
      headers: { origin: "http://elsewhere.example", "access-control-request-method": "DELETE" }
    })
    assert.strictEqual(preflight.status, 404)
    assert.isNull(preflight.headers.get("access-control-allow-origin"))
  })

  it("limits its bodies, and lists its paths for an unknown path", async () => {
    const simulator = await start()
    const call = control(simulator.url)
    assert.strictEqual((await call("POST", "faults", `"${"x".repeat(300_000)}"`)).status, 413)
    const unknown = await call("GET", "nothing")
    assert.strictEqual(unknown.status, 404)
    assert.include(unknown.json.error, "POST /_simulator/faults")
  })
})

describe("the beacon", () => {
  it("reports the state that was set, with a message for each change, until AVAILABLE", async () => {
    const simulator = await start()
    const get = async (path: string) =>
      (await fetch(`${simulator.beaconUrl}/${path}`)).json() as Promise<Record<string, unknown>>
    assert.deepStrictEqual(await get("status"), { status: "AVAILABLE" })
    assert.deepStrictEqual(await get("messages"), [] as never)
    const call = control(simulator.url)
    await call("POST", "beacon", { status: "MAINTENANCE", text: "Tonight" })
    const during = (await get("status")) as { readonly status: string; readonly messages: ReadonlyArray<object> }
    assert.strictEqual(during.status, "MAINTENANCE")
    assert.deepInclude(during.messages[0], {
      type: "MAINTENANCE_ANNOUNCEMENT",
      category: "MAINTENANCE",
      text: "Tonight"
    })
    simulator.setBeacon("FAILURE")
    simulator.setBeacon("TOTAL_FAILURE")
    simulator.setBeacon("AVAILABLE")
    const messages = (await get("messages")) as unknown as ReadonlyArray<Readonly<Record<string, unknown>>>
    assert.deepStrictEqual(
      messages.map(({ category, type }) => `${String(category)} ${String(type)}`),
      [
        "MAINTENANCE MAINTENANCE_ANNOUNCEMENT",
        "FAILURE FAILURE_START",
        "TOTAL_FAILURE FAILURE_START",
        "TOTAL_FAILURE FAILURE_END"
      ]
    )
    const [begun, over] = messages.slice(-2)
    assert.isNull(begun!["end"])
    assert.isString(over!["end"])
    assert.deepInclude(over, { eventId: begun!["eventId"], start: begun!["start"] })
    assert.deepStrictEqual(await get("status"), { status: "AVAILABLE" })
  })

  it("does not stop the API, whatever it reports", async () => {
    const simulator = await start()
    simulator.setBeacon("TOTAL_FAILURE")
    const client = await Client.login(simulator)
    assert.strictEqual((await client.submit(await client.open(), fa3())).status.code, 200)
  })
})
