/** Mistakes in the options of the client: the key and the base URL. */
import { createServer, type Server } from "node:http"
import { once } from "node:events"
import { createClient } from "../../../../packages/client/src/index.ts"
import { freePort } from "../../../support/freePort.ts"
import { fails, type Mistake } from "./Mistake.ts"

interface Service {
  readonly url: string
  readonly apiKey: string
  readonly liveKey: string
  readonly accessToken: string
}

const retry = { maxRetries: 0 }

const me = (apiKey: string, baseUrl: string) => createClient({ apiKey, baseUrl, ...retry }).me()

// A server that is not the service, such as the start page of a proxy.
const withOtherServer = async <A>(use: (url: string) => Promise<A>): Promise<A> => {
  const server: Server = createServer((_, response) => response.writeHead(404).end("<h1>Not found</h1>"))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  try {
    return await use(`http://127.0.0.1:${typeof address === "object" ? address?.port : address}`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

export const connectionMistakes = (service: () => Service): ReadonlyArray<Mistake> => [
  fails("`GOVOICE_API_KEY` is not set", () => me(undefined as never, service().url)),
  fails("`GOVOICE_API_KEY` is empty", () => me("", service().url)),
  fails("A line break at the end of the key", () => me(`${service().apiKey}\n`, service().url)),
  fails("A key that is cut off", () => me(service().apiKey.slice(0, -3), service().url)),
  fails("An access token in place of a key", () => me(service().accessToken, service().url)),
  fails("A live key where live mode is off", () =>
    createClient({ apiKey: service().liveKey, baseUrl: service().url, ...retry }).invoices.submit({
      invoiceXml: "<Faktura/>"
    })
  ),
  fails("The base URL is not set", () => me("sk_test_key", undefined as never)),
  fails("A base URL without its scheme", () => me("sk_test_key", "127.0.0.1:3000")),
  fails("A base URL that ends in `/v1`", () => me("sk_test_key", `${service().url}/v1`)),
  fails("A base URL that ends in `/docs`", () => me("sk_test_key", `${service().url}/docs`)),
  fails("A base URL of another server", () => withOtherServer((url) => me("sk_test_key", url))),
  fails("A port that is closed", async () => me("sk_test_key", `http://127.0.0.1:${await freePort()}`)),
  fails("`https` to a port without TLS", () => me("sk_test_key", service().url.replace("http:", "https:")))
]
