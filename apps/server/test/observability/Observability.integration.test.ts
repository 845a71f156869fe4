/** Telemetry of a process: one trace from a request to its webhooks, metrics, and log lines that name their subject. */
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ServerProcess } from "../../../../test/support/serverProcess.ts"
import { patienceMs } from "../../../../test/support/patienceMs.ts"

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: { readonly stringValue?: string } }>
}

interface Traces {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: Span["attributes"] }
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }>
  }>
}

interface LogLine {
  readonly level: string
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
}

const listen = async (answer: (request: IncomingMessage, body: string) => number): Promise<[Server, string]> => {
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
    request.on("end", () => response.writeHead(answer(request, body)).end())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`]
}

const until = async <A>(what: string, find: () => Promise<A | undefined> | A | undefined): Promise<A> => {
  const deadline = Date.now() + patienceMs
  while (Date.now() < deadline) {
    const found = await find()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`Waited in vain: ${what}`)
}

// The trace context of an unsampled trace.
const stranger = { traceId: "a".repeat(32), spanId: "b".repeat(16) }

describe("Observability", () => {
  const spans: Array<Span> = []
  const webhooks: Array<string> = []
  let services: ReadonlyArray<string> = []
  let server: ServerProcess
  let servers: ReadonlyArray<Server> = []
  let invoiceId = ""

  const find = (pattern: RegExp) => until(String(pattern), () => pattern.exec(server.text)?.[1])

  beforeAll(async () => {
    const [collector, collectorUrl] = await listen((request, body) => {
      if (request.url !== "/v1/traces") return 404
      const traces = JSON.parse(body) as Traces
      for (const { resource, scopeSpans } of traces.resourceSpans) {
        services = resource.attributes.map(({ key, value }) => `${key}=${value.stringValue}`)
        for (const scope of scopeSpans) spans.push(...scope.spans)
      }
      return 200
    })
    const [receiver, receiverUrl] = await listen((request) => {
      webhooks.push(String(request.headers["gov-event-id"]))
      return webhooks.length === 1 ? 500 : 204
    })
    servers = [collector, receiver]

    const root = join(import.meta.dirname, "../../../..")
    server = new ServerProcess(
      ["--conditions=source", join(root, "apps/server/src/main.ts")],
      {
        PORT: "0",
        GOVOICE_DATA_DIR: "memory",
        GOVOICE_METRICS_PORT: "0",
        GOVOICE_LOG_LEVEL: "Debug",
        GOVOICE_SANDBOX_STEP_MS: "50",
        GOVOICE_RETRY_SCHEDULE_MS: "50",
        GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
        GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
        OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl
      },
      { cwd: root }
    )

    const api = await server.started()
    const call = async <A>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<A> => {
      const response = await fetch(`${api}/v1/${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", ...headers }
      })
      return (await response.json()) as A
    }
    const credentials = { email: "owner@example.com", password: "correct horse battery" }
    await call("control-plane/accounts", credentials)
    const { access_token: token } = await call<{ access_token: string }>("control-plane/auth/login", credentials)
    const owner = { authorization: `Bearer ${token}` }
    const { id } = await call<{ id: string }>("control-plane/organizations", { name: "Company" }, owner)
    const { secret } = await call<{ secret: string }>(
      `control-plane/organizations/${id}/api-keys`,
      { mode: "test" },
      owner
    )
    await call(`control-plane/organizations/${id}/webhook-endpoints`, { url: receiverUrl, event_types: ["*"] }, owner)
    const invoice = await call<{ id: string }>(
      "invoices?unread=hidden-query",
      { invoice_xml: "<Faktura/>" },
      {
        authorization: `Bearer ${secret}`,
        "idempotency-key": "1",
        traceparent: `00-${stranger.traceId}-${stranger.spanId}-00`
      }
    )
    invoiceId = invoice.id
    await until("the webhooks", () => (webhooks.length === 5 ? true : undefined))
  })

  afterAll(() => {
    void server.kill()
    for (const one of servers) one.close()
  })

  it("one trace has an invoice from its request to every webhook", async () => {
    const ofTrace = await until("the spans of the attempts", () => {
      const submitted = spans.find(({ name }) => name === "SubmitInvoice.submit")
      const trace = spans.filter(({ traceId }) => traceId === submitted?.traceId)
      return trace.filter(({ name }) => name === "Dispatcher.send").length >= 5 ? trace : undefined
    })
    const named = (name: string) => ofTrace.filter((span) => span.name === name)
    assert.strictEqual(named("SubmitInvoice.submit").length, 1)
    assert.strictEqual(named("InvoiceWorker.advance").length, 3)
    assert.strictEqual(named("Attempt").length, 5)
    const attribute = (span: Span, key: string) => span.attributes.find((one) => one.key === key)?.value.stringValue
    for (const span of named("InvoiceWorker.advance")) assert.strictEqual(attribute(span, "invoiceId"), invoiceId)
    assert.sameMembers(
      named("Attempt").map((span) => attribute(span, "eventId")!),
      webhooks
    )
    const ids = new Set(ofTrace.map(({ spanId }) => spanId))
    for (const span of named("Attempt")) assert.isTrue(ids.has(span.parentSpanId!))
    assert.include(services, "service.name=govoice")
  })

  it("links the trace context of a client without continuing it, and records no query strings", async () => {
    const submitted = await until("the request", () => spans.find(({ links }) => (links ?? []).length > 0))
    assert.strictEqual(submitted.name, "POST")
    assert.isUndefined(submitted.parentSpanId)
    assert.deepInclude(submitted.links[0], stranger)
    assert.isFalse(spans.some(({ traceId }) => traceId === stranger.traceId))
    const path = submitted.attributes.find(({ key }) => key === "url.path")
    assert.strictEqual(path?.value.stringValue, "/v1/invoices")
    assert.notInclude(JSON.stringify(spans) + server.text, "hidden-query")
  })

  it("serves its metrics to Prometheus", async () => {
    const url = await find(/Metrics are served at (http:\S+\/metrics)/)
    const read = async (): Promise<string> => (await fetch(url)).text()
    const text = await until("the last completion", async () => {
      const text = await read()
      return text.includes('govoice_deliveries_completed_total{status="succeeded"} 4') ? text : undefined
    })
    const value = (series: string): number => {
      const line = text.split("\n").find((line) => line.startsWith(`${series} `))
      if (line === undefined) throw new Error(`There is no ${series} in:\n${text}`)
      return Number(line.slice(series.length + 1))
    }
    assert.strictEqual(value('govoice_deliveries_completed_total{status="retrying"}'), 1)
    assert.strictEqual(value('govoice_delivery_attempts_total{outcome="2xx"}'), 4)
    assert.strictEqual(value('govoice_delivery_attempts_total{outcome="5xx"}'), 1)
    assert.strictEqual(value('govoice_invoice_transitions_total{mode="test",status="submitted"}'), 1)
    assert.strictEqual(value('govoice_invoice_transitions_total{mode="test",status="accepted"}'), 2)
    assert.strictEqual(value("govoice_delivery_attempt_duration_seconds_count"), 5)
    assert.strictEqual(value("govoice_delivery_lag_seconds_count"), 5)
    assert.strictEqual(value("govoice_deliveries_in_flight"), 0)
    assert.strictEqual(value("govoice_leases_expired_total"), 0)
    assert.isAbove(value('govoice_claim_duration_seconds_count{kind="deliveries"}'), 0)
    assert.isAbove(value('govoice_claim_duration_seconds_count{kind="invoices"}'), 0)
    for (const queue of ["invoices", "deliveries", "retries"]) {
      assert.isAtLeast(value(`govoice_queue_depth{queue="${queue}"}`), 0)
      assert.isAtLeast(value(`govoice_queue_oldest_due_seconds{queue="${queue}"}`), 0)
    }
    // No label has a value that a client chooses.
    assert.notMatch(text, /127\.0\.0\.1|(evt|inv|org|we|wd)_[0-9a-z]{26}/)
  })

  const lineOf = (message: string) =>
    until(`the line: ${message}`, () => {
      const line = server.stdout.split("\n").find((text) => text.includes(`"message":"${message}`))
      return line === undefined ? undefined : (JSON.parse(line) as LogLine)
    })

  it("logs a failed attempt with delivery, event and invoice, at the level of details", async () => {
    const { annotations, level, message } = await lineOf("Delivery attempt failed")
    assert.strictEqual(level, "DEBUG")
    assert.strictEqual(message, "Delivery attempt failed: The endpoint returned HTTP 500.")
    const { attempts, deliveryId, eventId, invoiceId: about } = annotations
    assert.deepStrictEqual({ attempts, eventId, about }, { attempts: 1, eventId: webhooks[0], about: invoiceId })
    assert.match(String(deliveryId), /^wd_/)
  })

  it("logs the end of a delivery that needed a retry, and the trouble of its receiver's host", async () => {
    const end = await until("the end of the delivery", () =>
      server.stdout
        .split("\n")
        .filter((text) => text.includes('"message":"Delivery ended"'))
        .map((text) => JSON.parse(text) as LogLine)
        .find(({ annotations }) => annotations["eventId"] === webhooks[0])
    )
    assert.strictEqual(end.level, "INFO")
    assert.deepInclude(end.annotations, { status: "succeeded", attempts: 2 })
    const { annotations: begin, level } = await lineOf("Receiver unavailable")
    assert.strictEqual(level, "WARN")
    assert.deepInclude(begin, { failures: 1, reason: "The endpoint returned HTTP 500." })
    const { annotations: recovered } = await lineOf("Receiver available again")
    assert.deepInclude(recovered, { failures: 1, host: begin["host"] })
  })
})
