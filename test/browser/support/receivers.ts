/** Receivers of webhooks that fail, each in its own way. */
import { createServer, type Server } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"
import { makeAuthority } from "../../../packages/dispatcher/test/support/certificates.ts"

/** The receivers, and the path of each. */
export interface Receivers {
  /** Answers with the status of its path: `/404`. `/hang` does not answer. */
  readonly url: string
  /** The same with a certificate that nobody trusts. */
  readonly untrustedUrl: string
  readonly close: () => void
}

/** The settings of a server that may reach receivers on this machine. */
export const reachable = {
  GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
  GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
  GOVOICE_WEBHOOK_TIMEOUT_MS: "1500",
  // No delivery is tried again while a test looks at it.
  GOVOICE_RETRY_SCHEDULE_MS: "600000"
}

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)))

/** Starts the receivers. */
export const startReceivers = async (): Promise<Receivers> => {
  const plain = createServer((request, response) => {
    request.resume().on("end", () => {
      if (request.url?.startsWith("/hang")) return
      const status = Number(/^\/(\d{3})/.exec(request.url ?? "")?.[1] ?? 204)
      response.writeHead(status, {
        ...(status === 503 && { "retry-after": "3600" }),
        ...(status === 302 && { location: "/" })
      })
      response.end()
    })
  })
  const untrusted = createTlsServer(makeAuthority().issue({ addresses: ["127.0.0.1"] }), (request, response) => {
    request.resume().on("end", () => response.writeHead(204).end())
  })
  untrusted.on("tlsClientError", () => {})
  const [port, tlsPort] = await Promise.all([listen(plain), listen(untrusted)])
  return {
    url: `http://127.0.0.1:${port}`,
    untrustedUrl: `https://127.0.0.1:${tlsPort}`,
    close: () => {
      for (const server of [plain, untrusted]) {
        server.closeAllConnections()
        server.close()
      }
    }
  }
}
