/** Webhooks at a receiver: bodies, signatures, subscriptions, and attempts during a graceful stop. */
import { readFileSync } from "node:fs"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { problemOf } from "./support/agreement.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant, until } from "./support/client.ts"
import { databaseOfRun, openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"

interface Received {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const settings = {
  GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
  GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
  GOVOICE_RETRY_SCHEDULE_MS: "50,50,50"
}

const startReceiver = async (answer: (path: string, times: number, response: ServerResponse) => void) => {
  const received: Array<Received> = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
    request.on("end", () => {
      const path = request.url ?? ""
      received.push({ path, method: request.method ?? "", headers: request.headers, body })
      answer(path, received.filter((one) => one.path === path && one.body === body).length, response)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    at: (path: string) => received.filter((one) => one.path === path),
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>

const waitFor = async (isThere: () => boolean, milliseconds = 50_000) => {
  const deadline = Date.now() + milliseconds
  while (!isThere()) {
    if (Date.now() > deadline) throw new Error("Timed out")
    await sleep(20)
  }
}

const signatureOf = ({ body, headers }: Received, secret: string): string =>
  `v1=${createHmac("sha256", secret)
    .update(`${String(headers["gov-timestamp"])}.${body}`)
    .digest("hex")}`

const { name, open } = databaseOfRun

describe(`webhooks on ${name}`, () => {
  let database: TestDatabase
  let server: Server
  let receiver: Receiver
  let call: Call
  let tenant: Tenant

  beforeAll(async () => {
    database = await open()
    receiver = await startReceiver((path, times, response) => {
      response.writeHead(path === "/second-time" && times === 1 ? 503 : 204).end()
    })
    server = await startServer({ ...database.settings, ...settings })
    call = makeCall(() => server.url, await readAgreement(server.url))
    tenant = await signUp(call)
  })
  afterAll(async () => {
    await server?.stop()
    receiver?.close()
    await database?.drop()
  })

  const listen = async (path: string, event_types: ReadonlyArray<string>) => {
    const made = await call("POST", `/v1/control-plane/organizations/${tenant.organizationId}/webhook-endpoints`, {
      auth: tenant.token,
      body: { url: receiver.url + path, event_types }
    })
    return made.json as { readonly id: string; readonly secret: string }
  }

  it("have the document and the verification of the invoice exactly as the API does", async () => {
    await listen("/document", ["*"])
    const invoice_xml = readFileSync(new URL("../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")
    const submitted = await submit(call, tenant.testKey, { body: { invoice_xml } })
    const { document, id, verification } = submitted.json as Record<string, unknown>
    assert.propertyVal(document, "number", "FV/2026/11/0001")
    await waitFor(() => receiver.at("/document").length >= 4)
    const byType = new Map(
      receiver.at("/document").map(({ body }) => {
        const event = JSON.parse(body) as { type: string; data: { invoice: Record<string, unknown> } }
        return [event.type, event.data.invoice] as const
      })
    )
    for (const type of ["invoice.received", "invoice.submitted"]) {
      assert.deepStrictEqual(byType.get(type)?.["document"], document, type)
      assert.deepStrictEqual(byType.get(type)?.["verification"], verification, type)
    }
    const last = (await call("GET", `/v1/invoices/${String(id)}`, { auth: tenant.testKey })).json
    assert.deepStrictEqual(byType.get("invoice.upo_available"), last)
    const { official_number: label } = last as Record<string, unknown>
    assert.deepStrictEqual(byType.get("invoice.accepted")?.["verification"], { ...(verification as object), label })
    assert.deepStrictEqual(byType.get("invoice.accepted")?.["document"], document)
  })

  it("have the same body at each endpoint and attempt, the headers of the contract, and a new signature", async () => {
    const first = await listen("/first-time", ["*"])
    const second = await listen("/second-time", ["*"])
    const submitted = await submit(call, tenant.testKey, { body: { invoice_xml: "<a/>", metadata: { ż: "ó😀" } } })
    await waitFor(() => receiver.at("/first-time").length >= 4 && receiver.at("/second-time").length >= 8)

    const sent = [...receiver.at("/first-time"), ...receiver.at("/second-time")]
    const bodies = new Set(sent.map(({ body }) => body))
    assert.strictEqual(bodies.size, 4)
    for (const body of bodies) {
      const same = sent.filter((one) => one.body === body)
      assert.deepStrictEqual(same.map(({ path }) => path).sort(), ["/first-time", "/second-time", "/second-time"])
      assert.lengthOf(new Set(same.map(({ headers }) => headers["gov-event-id"])), 1)
    }
    for (const one of sent) {
      const event = JSON.parse(one.body) as Record<string, unknown>
      assert.sameMembers(Object.keys(event), ["id", "object", "type", "mode", "created_at", "data"])
      assert.strictEqual(one.method, "POST")
      assert.strictEqual(one.headers["content-type"], "application/json")
      assert.strictEqual(one.headers["gov-event-id"], event["id"])
      assert.match(String(one.headers["gov-timestamp"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.isBelow(Math.abs(Date.now() - Date.parse(String(one.headers["gov-timestamp"]))), 30_000)
      assert.match(String(one.headers["user-agent"]), /^Govoice-Webhooks\/\d+\.\d+\.\d+/)
      const { secret } = one.path === "/first-time" ? first : second
      assert.strictEqual(one.headers["gov-signature"], signatureOf(one, secret))
    }

    const types = receiver.at("/first-time").map(({ body }) => (JSON.parse(body) as { readonly type: string }).type)
    assert.sameMembers(types, ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"])
    const received = receiver.at("/first-time").find(({ body }) => body.includes('"invoice.received"'))
    const { data } = JSON.parse(received?.body ?? "") as { readonly data: unknown }
    assert.deepStrictEqual(data, { invoice: submitted.json }, "as in the response with 201")
    for (const { id } of [first, second]) {
      const list = await until(
        () =>
          call("GET", `/v1/control-plane/webhook-endpoints/${id}/deliveries?status=succeeded`, {
            auth: tenant.token
          }),
        ({ json }) => (json as { readonly data: ReadonlyArray<unknown> }).data.length === 4
      )
      for (const delivery of (list.json as { readonly data: ReadonlyArray<Record<string, unknown>> }).data) {
        assert.deepInclude(delivery, {
          attempt_count: id === first.id ? 1 : 2,
          last_http_status: 204,
          last_error_summary: null,
          next_retry_at: null
        })
      }
      await call("DELETE", `/v1/control-plane/webhook-endpoints/${id}`, { auth: tenant.token })
    }
  })

  it("are signed with the old secret until the new one is active, and with the new one afterwards", async () => {
    const { id, secret } = await listen("/rotated", ["invoice.received"])
    const rotated = await call("POST", `/v1/control-plane/webhook-endpoints/${id}/rotate-secret`, {
      auth: tenant.token,
      body: { activates_in_seconds: 10 }
    })
    const next = rotated.json as { readonly secret: string; readonly secret_activates_at: string }
    await submit(call, tenant.testKey)
    await waitFor(() => receiver.at("/rotated").length === 1)
    const [before] = receiver.at("/rotated")
    assert.isBelow(Date.parse(String(before?.headers["gov-timestamp"])), Date.parse(next.secret_activates_at))
    assert.strictEqual(before?.headers["gov-signature"], signatureOf(before!, secret))

    await sleep(Date.parse(next.secret_activates_at) - Date.now() + 50)
    await submit(call, tenant.testKey)
    await waitFor(() => receiver.at("/rotated").length === 2)
    const after = receiver.at("/rotated")[1]!
    assert.strictEqual(after.headers["gov-signature"], signatureOf(after, next.secret))
  })

  it("carry the headers of their endpoint, whose values no response tells, and names of the signature are refused", async () => {
    const { id } = await listen("/headers", ["invoice.received"])
    const path = `/v1/control-plane/webhook-endpoints/${id}`
    const change = (headers: unknown) => call("PATCH", path, { auth: tenant.token, body: { headers } })
    const patched = await change({ "X-Api-Key": "key-of-the-gateway", Authorization: "Bearer other" })
    assert.deepInclude(patched.json, { headers: ["X-Api-Key", "Authorization"] })
    await submit(call, tenant.testKey)
    await waitFor(() => receiver.at("/headers").length === 1)
    const [received] = receiver.at("/headers")
    assert.deepInclude(received!.headers, { "x-api-key": "key-of-the-gateway", authorization: "Bearer other" })
    assert.strictEqual(received!.headers["content-type"], "application/json")

    const refused = await change({ "Gov-Signature": "v1=00" })
    assert.strictEqual(refused.status, 422)
    assert.deepInclude(problemOf(refused), { code: "invalid_parameter", param: "headers" })
    const shown = await call("GET", path, { auth: tenant.token })
    for (const { text } of [patched, refused, shown]) assert.notInclude(text, "key-of-the-gateway")
  })

  it("are sent for the modes of their endpoint alone", async () => {
    const { id } = await listen("/modes", ["invoice.received"])
    const path = `/v1/control-plane/webhook-endpoints/${id}`
    const change = (modes: unknown) => call("PATCH", path, { auth: tenant.token, body: { modes } })
    assert.deepInclude((await change(["live"])).json, { modes: ["live"] })
    await submit(call, tenant.testKey)
    assert.deepInclude((await change(["test"])).json, { modes: ["test"] })
    const { json } = await submit(call, tenant.testKey)
    await waitFor(() => receiver.at("/modes").length === 1)
    const event = JSON.parse(receiver.at("/modes")[0]!.body) as {
      readonly data: { readonly invoice: { readonly id: string } }
    }
    assert.propertyVal(json, "id", event.data.invoice.id)
    assert.strictEqual((await change([])).status, 422)
  })

  it("are verified by the libraries of Standard Webhooks, also after a rotation, where an endpoint opts in", async () => {
    const first = await listen("/standard", ["invoice.received"])
    const path = `/v1/control-plane/webhook-endpoints/${first.id}`
    const plain = await submit(call, tenant.testKey)
    await waitFor(() => receiver.at("/standard").length === 1)
    assert.notMatch(Object.keys(receiver.at("/standard")[0]!.headers).join(), /webhook-/)
    assert.notProperty(plain.json, "standard_webhooks")

    const patched = await call("PATCH", path, { auth: tenant.token, body: { standard_webhooks: true } })
    assert.propertyVal(patched.json, "standard_webhooks", true)
    await submit(call, tenant.testKey, { body: { invoice_xml: "<a/>", metadata: { ż: "ó😀" } } })
    await waitFor(() => receiver.at("/standard").length === 2)
    const rotated = await call("POST", `${path}/rotate-secret`, { auth: tenant.token })
    const next = rotated.json as { readonly secret: string }
    await submit(call, tenant.testKey)
    await waitFor(() => receiver.at("/standard").length === 3)

    const [, before, after] = receiver.at("/standard")
    const checks = [
      { received: before!, right: first.secret, wrong: next.secret },
      { received: after!, right: next.secret, wrong: first.secret }
    ]
    for (const { received, right, wrong } of checks) {
      const headers = received.headers as Record<string, string>
      const event: unknown = JSON.parse(received.body)
      assert.propertyVal(event, "id", headers["webhook-id"])
      assert.deepStrictEqual(new StandardWebhook(right).verify(received.body, headers), event)
      for (const Webhook of [StandardWebhook, SvixWebhook]) {
        assert.doesNotThrow(() => new Webhook(right).verify(received.body, headers))
        assert.throws(() => new Webhook(wrong).verify(received.body, headers))
        assert.throws(() => new Webhook(right).verify(`${received.body} `, headers))
      }
      assert.strictEqual(headers["gov-signature"], signatureOf(received, right), "one secret serves both")
    }
  })

  it("are not sent to endpoints that are disabled, deleted or not subscribed", async () => {
    const disabled = await listen("/disabled", ["*"])
    const deleted = await listen("/deleted", ["*"])
    await listen("/others", ["invoice.rejected"])
    const witness = await listen("/witness", ["invoice.upo_available"])
    await call("PATCH", `/v1/control-plane/webhook-endpoints/${disabled.id}`, {
      auth: tenant.token,
      body: { enabled: false }
    })
    await call("DELETE", `/v1/control-plane/webhook-endpoints/${deleted.id}`, { auth: tenant.token })
    const { id } = (await submit(call, tenant.testKey)).json as { readonly id: string }
    const heard = (path: string) => receiver.at(path).filter(({ body }) => body.includes(id))
    await waitFor(() => heard("/witness").length === 1)
    const [last] = heard("/witness")
    assert.strictEqual(last?.headers["gov-signature"], signatureOf(last!, witness.secret))
    for (const path of ["/disabled", "/deleted", "/others"]) assert.lengthOf(heard(path), 0, path)
  })
})

describe("a server that is stopped while a receiver does not respond", () => {
  const start = async (timeoutMs: number) => {
    const receiver = await startReceiver(() => {})
    const database = await openMigrated()
    const server = await startServer({
      ...database.settings,
      ...settings,
      GOVOICE_WEBHOOK_TIMEOUT_MS: String(timeoutMs)
    })
    const call = makeCall(() => server.url, await readAgreement(server.url))
    const tenant = await signUp(call)
    await call("POST", `/v1/control-plane/organizations/${tenant.organizationId}/webhook-endpoints`, {
      auth: tenant.token,
      body: { url: `${receiver.url}/waits`, event_types: ["invoice.received"] }
    })
    await submit(call, tenant.testKey)
    await waitFor(() => receiver.at("/waits").length === 1)
    return { database, receiver, server }
  }

  it("accepts no requests and exits with 0 within the webhook timeout plus five seconds", async () => {
    const { database, receiver, server } = await start(1500)
    const begun = Date.now()
    const stopped = server.stop()
    await sleep(200)
    const answer = await fetch(`${server.url}/v1/me`).catch(() => undefined)
    assert.isTrue(answer === undefined || answer.status === 503, String(answer?.status))
    assert.strictEqual(await stopped, 0)
    assert.isBelow(Date.now() - begun, 20_000)
    receiver.close()
    await database.drop()
  })

  it("exits at once after a second signal more than a second later", async () => {
    const { database, receiver, server } = await start(20_000)
    const stopped = server.stop()
    await sleep(20)
    server.process.kill("SIGTERM")
    await sleep(1200)
    assert.isNull(server.process.exitCode, "a duplicate of the signal is ignored")
    const begun = Date.now()
    server.process.kill("SIGTERM")
    assert.strictEqual(await stopped, 130)
    assert.isBelow(Date.now() - begun, 15_000)
    receiver.close()
    await database.drop()
  })
})
