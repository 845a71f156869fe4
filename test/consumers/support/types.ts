/**
 * TypeScript programs as text. They are compiled in projects of users.
 */

/** Without the types of a platform. */
export const bare = `
import { createClient, createControlPlane, isApiError, type Fetch, type Invoice, type InvoiceStatus } from "@govoice/client"
import { createVerifier, sign, WebhookVerificationError, type WebhookEvent } from "@govoice/webhooks"
import { createHandler as express } from "@govoice/webhooks/express"
import { createHandler as fastify } from "@govoice/webhooks/fastify"
import { createHandler as node } from "@govoice/webhooks/node"
import { signedWebhook } from "@govoice/webhooks/testing"
import { createHandler as web } from "@govoice/webhooks/web"

const secret = "whsec_x"
export const verified = createVerifier({ secret }).verify("{}", { "gov-event-id": "evt_1" })
export const handlers = [
  express({ secret }, ({ event }) => event.type),
  fastify({ secret }, ({ event }) => event.type),
  node({ secret }, ({ event }) => event.type),
  web({ secret }, ({ event }) => event.type)
]
export const number: string = signedWebhook({ secret, type: "invoice.accepted" }).event.data.invoice.official_number
export const describe = (event: WebhookEvent): string => {
  switch (event.type) {
    case "invoice.accepted":
      return event.data.invoice.official_number
    case "invoice.rejected":
      return event.data.invoice.rejection.message
    default: {
      const type: string = event.type
      return type + String(event.data)
    }
  }
}
export { sign, WebhookVerificationError }

const client = createClient({ apiKey: "sk_test_1", baseUrl: "https://example.com" })
export const status = async (id: string): Promise<InvoiceStatus | null> => {
  try {
    const invoice: Invoice = await client.invoices.get(id)
    return invoice.status
  } catch (error) {
    if (isApiError(error, "invoice_not_found")) return null
    throw error
  }
}
export const list = async () => {
  const controlPlane = createControlPlane({ baseUrl: "https://example.com" })
  for await (const { status } of controlPlane.deliveries.list("we_1", { status: "failed" })) return status
  return undefined
}
// @ts-expect-error a document is needed
void client.invoices.submit({})
export const own: Fetch = async () => {
  throw new Error("none")
}
`

/** With `fetch`, `Request` and `Response`. */
export const onPlatform = `
import { createClient, submitInvoice } from "@govoice/client"
import { createVerifier } from "@govoice/webhooks"
import { signedWebhook } from "@govoice/webhooks/testing"
import { createHandler } from "@govoice/webhooks/web"

const options = { apiKey: "sk_test_1", baseUrl: "https://example.com" }
export const given = createClient({ ...options, fetch })
export const traced = createClient({
  ...options,
  fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, "x-trace": "1" } })
})
export const mocked = createClient({ ...options, fetch: async () => new Response("{}") })
export const submit = (connection: Parameters<typeof submitInvoice>[0]) =>
  submitInvoice(connection, { invoiceXml: "" }, { signal: AbortSignal.timeout(1000) })
export const stream = async () => new Response((await given.invoices.downloadUpo("inv_1")).stream())
export const bytes = async () => new Response(await (await given.invoices.downloadUpo("inv_1")).bytes())
export const receive: (request: Request) => Promise<Response> = createHandler(
  { secret: "whsec_x" },
  ({ event }, request: Request) => request.url + event.type
)
export const verify = (request: Request) => createVerifier({ secret: "whsec_x" }).verifyRequest(request)
export const headers = (given: Headers) => createVerifier({ secret: "whsec_x" }).verify(new Uint8Array(1), given)
export const sample: Request = signedWebhook({ secret: "whsec_x", type: "invoice.accepted" }).request
`

/** With the modules of Node. */
export const onNode = `
import { createHandler as express } from "@govoice/webhooks/express"
import { createHandler as node } from "@govoice/webhooks/node"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

const handler = node({ secret: "whsec_x" }, ({ event }, request: IncomingMessage) => event.type + String(request.url))
export const server = createServer((request, response) => void handler(request, response))
export const other: (request: IncomingMessage, response: ServerResponse) => Promise<void> = express(
  { secret: "whsec_x" },
  () => {}
)
`

/** In a worker with a service binding. */
export const onWorkers = `
import { createClient } from "@govoice/client"
import { createHandler } from "@govoice/webhooks/web"

interface Env {
  readonly GOVOICE: Fetcher
}

const handler = createHandler({ secret: "whsec_x" }, ({ event }) => event.type)

export default {
  fetch: async (request, env) => {
    const options = { apiKey: "sk_test_1", baseUrl: "https://example.com" }
    const bound = createClient({ ...options, fetch: env.GOVOICE.fetch.bind(env.GOVOICE) })
    const called = createClient({ ...options, fetch: (url, init) => env.GOVOICE.fetch(url, init) })
    const invoice = await (request.url ? bound : called).invoices.submit({ invoiceXml: "" }, { signal: request.signal })
    return invoice.status === "queued" ? handler(request) : new Response(invoice.id)
  }
} satisfies ExportedHandler<Env>
`
