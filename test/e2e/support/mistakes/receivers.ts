/** Mistakes of receivers: the secret, the body, the headers, the clock. */
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { createVerifier } from "../../../../packages/webhooks/src/index.ts"
import { createHandler } from "../../../../packages/webhooks/src/node.ts"
import { signedWebhook } from "../../../../packages/webhooks/src/testing.ts"
import { fails, type Mistake } from "./Mistake.ts"

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
const webhook = (options: { readonly now?: number } = {}) =>
  signedWebhook({ secret, type: "invoice.accepted", ...options })

const verify = (given: Parameters<typeof createVerifier>[0], sent = webhook()) =>
  createVerifier(given).verify(sent.body, sent.headers)

// Sends the webhook to a server over HTTP, and returns its answer.
const answerWith = async (parsesFirst: boolean, headersOf = (headers: Record<string, string>) => headers) => {
  let reported = ""
  const report = (error: unknown) => (reported = String(error))
  const handle = createHandler<IncomingMessage>({ secret, onError: report, onRejected: report }, () => undefined)
  const server = createServer((request, response) => {
    const parsed: Promise<unknown> = parsesFirst ? parse(request) : Promise.resolve()
    void parsed.then((body) => handle(body === undefined ? request : Object.assign(request, { body }), response))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  try {
    const { body, headers } = webhook()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`
    const response = await fetch(url, { method: "POST", body, headers: headersOf(headers) })
    await response.arrayBuffer()
    if (response.ok) throw new Error("The receiver accepted the webhook")
    return `${response.status}; ${reported}`
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

// As `express.json()` does.
const parse = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}

const without = (header: string) => (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== header))

export const receiverMistakes: ReadonlyArray<Mistake> = [
  fails("`WEBHOOK_SECRET` is not set", () => verify({ secret: undefined as never })),
  fails("`WEBHOOK_SECRET` is empty", () => verify({ secret: "" })),
  fails("A secret in quotes", () => verify({ secret: `"${secret}"` })),
  fails("A line break at the end of the secret", () => verify({ secret: `${secret}\n` })),
  fails("A secret without `whsec_`", () => verify({ secret: secret.slice(6) })),
  fails("The secret of another endpoint", () => verify({ secret: "whsec_of-another-endpoint" })),
  fails("A body that was parsed and serialized", () => {
    const { body, headers } = webhook()
    return createVerifier({ secret }).verify(JSON.stringify(JSON.parse(body), null, 2), headers)
  }),
  fails("A body that was parsed", () => {
    const { body, headers } = webhook()
    return createVerifier({ secret }).verify(JSON.parse(body) as never, headers)
  }),
  { title: "`express.json()` in front of the handler", see: () => answerWith(true) },
  { title: "A proxy that removes `Gov-Signature`", see: () => answerWith(false, without("Gov-Signature")) },
  {
    title: "A proxy that changes `Gov-Signature`",
    see: () =>
      answerWith(false, (headers) => ({ ...headers, "Gov-Signature": headers["Gov-Signature"]!.toUpperCase() }))
  },
  fails("A timestamp in seconds", () => {
    const { body, headers } = webhook()
    return createVerifier({ secret }).verify(body, { ...headers, "Gov-Timestamp": "1795219200" })
  }),
  fails("A webhook that was recorded ten minutes ago", () =>
    verify({ secret, now: () => 600_000 }, webhook({ now: 0 }))
  ),
  fails("A clock that is ten minutes slow", () => verify({ secret, now: () => 0 }, webhook({ now: 600_000 })))
]
