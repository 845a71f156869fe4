/**
 * A webhook receiver that loses no event: it verifies what arrives, hands new events on, writes them down, and answers
 * 204 only then. The service sends again what was not answered so, and what was written down is not handled again, also
 * after the process was killed. Killed between the two, it hands an event on a second time: only work that is written
 * down in the same transaction as its id is done exactly once.
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
   * Several secrets while one is rotated, or a function that is asked for them at each request: the URL of a receiver
   * has to be known before there is a secret. As long as there is none, requests are answered 503, and sent again.
   */
  readonly secrets?: ReadonlyArray<string> | (() => ReadonlyArray<string>)

  /** @default 0, any port that is free */
  readonly port?: number

  /** @default "127.0.0.1" */
  readonly host?: string

  /** Where the events are written down. */
  readonly dataDir: string

  /** Called with each event that was not handled before. When it fails, the service sends the event again. */
  readonly onWebhook?: (webhook: VerifiedWebhook) => unknown
}

export interface Receiver {
  /** Where to send webhooks. */
  readonly url: string
  /** Lets what is being handled end, and closes. */
  readonly close: () => Promise<void>
}

export const startReceiver = async (options: ReceiverOptions): Promise<Receiver> => {
  const { secret, secrets = secret === undefined ? [] : [secret], port = 0, host = "127.0.0.1" } = options
  // A secret that cannot be one is refused before there is anything to close.
  if (typeof secrets !== "function" && secrets.length > 0) createVerifier({ secrets })
  const journal = await Journal.open(options.dataDir)

  // The same event may arrive twice at a time: the second waits for what becomes of the first.
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
      // Secrets that cannot be read, or that cannot be secrets: one request fails, and may be sent again.
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
