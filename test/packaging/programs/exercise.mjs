/**
 * Uses every package once. The packages are arguments, because projects load them in different ways.
 */
import assert from "node:assert/strict"
import { createServer } from "node:http"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwlongenough0"

const invoice = {
  id: "inv_01k9f3qg5vb1c2d3e4f5g6h7j8",
  object: "invoice",
  mode: "test",
  status: "queued",
  scenario: "accepted",
  metadata: {},
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
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
  submitted_at: null,
  completed_at: null
}

const webhooks = async ({ createVerifier, signedHeaders }) => {
  const body = JSON.stringify({
    id: "evt_01k9f3qg5vb1c2d3e4f5g6h7j8",
    object: "event",
    type: "invoice.received",
    mode: "test",
    created_at: "2026-01-01T00:00:00.000Z",
    data: { invoice }
  })
  const headers = await signedHeaders({ secret, id: "evt_01k9f3qg5vb1c2d3e4f5g6h7j8", body })
  const { verify } = createVerifier({ secret })
  const { event } = await verify(body, headers)
  assert.equal(event.data.invoice.status, "queued")
  await assert.rejects(verify(`${body} `, headers), { code: "no_match" })
}

const client = async ({ createClient, isApiError }) => {
  const seen = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers["idempotency-key"] ? "with a key" : ""}`.trim())
    response.writeHead(request.method === "POST" ? 201 : 404, { "content-type": "application/json" })
    const error = { type: "invalid_request_error", code: "invoice_not_found", message: "None.", param: null }
    response.end(
      JSON.stringify(
        request.method === "POST" ? invoice : { error: { ...error, request_id: "req_1", retryable: false } }
      )
    )
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    const baseUrl = `http://127.0.0.1:${server.address().port}`
    const { invoices } = createClient({ apiKey: "sk_test_0000000000000000000000000000", baseUrl })
    const submitted = await invoices.submit({ invoiceXml: "<Faktura/>" })
    assert.equal(submitted.status, "queued")
    assert.equal(submitted.officialNumber, null)
    const error = await invoices.get(invoice.id).catch((error) => error)
    assert.ok(isApiError(error))
    assert.equal(error.code, "invoice_not_found")
    assert.deepEqual(seen, ["POST /v1/invoices with a key", `GET /v1/invoices/${invoice.id}`])
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

const core = ({ InvoiceState }) => {
  assert.equal(InvoiceState.transitions.submitted.accept, "accepted")
  assert.equal(InvoiceState.emits.accept, "invoice.accepted")
}

const api = ({ Api, Problems }) => {
  assert.ok(Object.keys(Api.groups).length > 3)
  assert.equal(Problems.make("not_found", "req_1").error.code, "not_found")
}

const dispatcher = async ({ judgeUrl, makeDispatcher }) => {
  assert.deepEqual(judgeUrl("https://127.0.0.1/"), { ok: false, rule: "loopback" })
  const { close, send } = makeDispatcher()
  assert.equal((await send({ url: "https://10.0.0.1/", body: "{}" }))._tag, "Blocked")
  await close()
}

const all = { webhooks, client, core, api, dispatcher }

export const exercise = async (packages) => {
  for (const [name, exports] of Object.entries(packages)) {
    await all[name](exports)
    console.log(`${name}: works`)
  }
}
