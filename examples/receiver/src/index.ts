/**
 * A webhook receiver that loses no event: it verifies webhooks, handles new events, stores them, and then answers
 * 204. The service retries events without a 204, and stored events are not handled again, also
 * after a crash. After a crash between handling and storing, an event is handled twice: only work that is committed
 * in the same transaction as the id is done exactly once.
 */
import type { VerifiedWebhook } from "@govoice/webhooks"
import { createVerifier } from "@govoice/webhooks"
import { createHandler } from "@govoice/webhooks/node"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Journal } from "./Journal.ts"

export interface ReceiverOptions {
  /** The secret of the endpoint. */
  readonly secret?: string

  /**
   * Several secrets during a rotation, or a function that returns them for each request, because the URL of a receiver
   * must be known before its secret. Without a secret, requests are answered with 503 and the service retries.
   */
  readonly secrets?: ReadonlyArray<string> | (() => ReadonlyArray<string>)

  /** @default 0, any free port */
  readonly port?: number

  /** @default "127.0.0.1" */
  readonly host?: string

  /** The folder in which events are stored. */
  readonly dataDir: string

  /** Called with each event that was not handled before. If it fails, the service retries. */
  readonly onWebhook?: (webhook: VerifiedWebhook) => unknown
}

export interface Receiver {
  /** The URL that receives webhooks. */
  readonly url: string
  /** Waits for events in progress, then closes. */
  readonly close: () => Promise<void>
}

export const startReceiver = async (options: ReceiverOptions): Promise<Receiver> => {
  const { secret, secrets = secret === undefined ? [] : [secret], port = 0, host = "127.0.0.1" } = options
  // Throws for an invalid secret before a resource is opened.
  if (typeof secrets !== "function" && secrets.length > 0) createVerifier({ secrets })
  const journal = await Journal.open(options.dataDir)

  // The same event may arrive concurrently: the second copy waits for the first.
  const underway = new Map<string, Promise<void>>()
  const handle = async (webhook: VerifiedWebhook): Promise<void> => {
    if (journal.has(webhook.id)) return
    await options.onWebhook?.(webhook)
    await journal.add(webhook)
  }
  const once = (webhook: VerifiedWebhook): Promise<void> => {
    const begun = underway.get(webhook.id) ?? handle(webhook).finally(() => underway.delete(webhook.id))
    underway.set(webhook.id, begun)
    return begun
  }

  const current = typeof secrets === "function" ? secrets : () => secrets
  let made: { readonly for: string; readonly handler: ReturnType<typeof createHandler> } | undefined
  const handlerOf = (secrets: ReadonlyArray<string>) => {
    const list = secrets.join(" ")
    if (made?.for !== list) {
      made = { for: list, handler: createHandler({ secrets, seen: (id) => journal.has(id) }, once) }
    }
    return made.handler
  }

  const server = createServer((request, response) => {
    try {
      const secrets = current()
      if (secrets.length === 0) response.writeHead(503, { connection: "close" }).end()
      else void handlerOf(secrets)(request, response)
    } catch (error) {
      // The secrets are unavailable or invalid. The service retries the request.
      console.error(error)
      response.writeHead(500, { connection: "close" }).end()
    }
  })
  const address = await listen(server, port, host)
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address
  return {
    url: `http://${name}:${address.port}/webhooks`,
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      })
      await journal[Symbol.asyncDispose]()
    }
  }
}

const listen = (server: Server, port: number, host: string) =>
  new Promise<AddressInfo>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })
