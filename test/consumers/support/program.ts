/**
 * The program of a consumer: it verifies a webhook, rejects a changed one, submits an invoice and waits for its final status.
 */
import { invoice } from "./service.ts"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwlongenough0"

const event = {
  id: "evt_01k9f3qg5vb1c2d3e4f5g6h7j8",
  object: "event",
  type: "invoice.received",
  mode: "test",
  created_at: "2026-01-01T00:00:00.000Z",
  data: { invoice }
}

/** What `use` resolves with. */
export const works = "invoice.received no_match queued accepted"

/** JavaScript that defines `use(webhooks, client, options)`. */
export const use = (baseUrl: string): string => `
const use = async ({ createVerifier, signedHeaders }, { createClient }, options) => {
  const secret = ${JSON.stringify(secret)}
  const body = ${JSON.stringify(JSON.stringify(event))}
  const headers = await signedHeaders({ secret, id: ${JSON.stringify(event.id)}, body })
  const { verify } = createVerifier({ secret })
  const { event } = await verify(body, headers)
  const refused = await verify(body + " ", headers).catch((error) => error.code)
  const { invoices } = createClient({ apiKey: "sk_test_0", baseUrl: ${JSON.stringify(baseUrl)}, ...options })
  const { id, status } = await invoices.submit({ invoiceXml: "<Faktura/>" })
  const final = await invoices.waitUntilFinal(id)
  return [event.type, refused, status, final.status].join(" ")
}
`

/** The entries that every kind of project can load. */
export const entries = [
  "@govoice/webhooks",
  "@govoice/webhooks/express",
  "@govoice/webhooks/fastify",
  "@govoice/webhooks/node",
  "@govoice/webhooks/testing",
  "@govoice/webhooks/web",
  "@govoice/client"
]

/** Loads every entry, and defines `use`, `webhooks` and `client`. */
export const load = (kind: "esm" | "cjs", baseUrl: string): string => {
  const loads = entries.map((entry, index) =>
    kind === "esm" ? `import * as entry${index} from "${entry}"` : `const entry${index} = require("${entry}")`
  )
  return [
    ...loads,
    `const all = [${entries.map((_, index) => `entry${index}`).join()}]`,
    "const [webhooks, client] = [all.at(0), all.at(-1)]",
    'if (all.some((entry) => Object.values(entry).every((value) => typeof value !== "function"))) throw new Error("no exports")',
    use(baseUrl)
  ].join("\n")
}
