/** The clients that are compared. All keep connections, and none reads more of the response than necessary. */
import * as http from "node:http"
import * as https from "node:https"
import { Dispatcher, makeDispatcher } from "@govoice/dispatcher"
import { create } from "axios"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from "request-filtering-agent"
import { Agent, request } from "undici"

export interface Variant {
  readonly name: string
  /** Makes requests one after the other until a time. Returns how many. */
  readonly work: (until: number) => Promise<number>
}

const repeat =
  (send: () => Promise<unknown>): Variant["work"] =>
  async (until) => {
    let done = 0
    while (performance.now() < until) {
      await send()
      done++
    }
    return done
  }

interface Settings {
  readonly scheme: "http" | "https"
  readonly port: number
  readonly ca: string
  readonly inFlight: number
  readonly body: string
}

const expect200 = (status: number) => {
  if (status !== 200) throw new Error(`The receiver answered ${status}`)
}

export const makeVariants = ({ body, ca, inFlight, port, scheme }: Settings): ReadonlyArray<Variant> => {
  const secure = scheme === "https"
  const byAddress = `${scheme}://127.0.0.1:${port}/hook`
  const byName = `${scheme}://bench.test:${port}/hook`
  const headers = { "content-type": "application/json", "gov-event-id": "evt_1" }

  const options = {
    allowHttp: !secure,
    allowNetworks: ["127.0.0.0/8"],
    resolve: async () => ["127.0.0.1"],
    tls: { ca },
    maxConnectionsPerTarget: inFlight
  }
  const promises = makeDispatcher(options)
  const runtime = ManagedRuntime.make(Dispatcher.layer(options))
  const repeatEffect = (until: number) =>
    Effect.gen(function* () {
      const { send } = yield* Dispatcher
      let done = 0
      while (performance.now() < until) {
        const outcome = yield* send({ url: byName, body, headers })
        expect200("status" in outcome ? outcome.status : 0)
        done++
      }
      return done
    })

  const agent = new Agent({ connect: { ca } })

  const keepAlive = { keepAlive: true, maxSockets: inFlight, ca }
  const nodeAgent = secure ? new https.Agent(keepAlive) : new http.Agent(keepAlive)
  const nodeRequest = secure ? https.request : http.request

  const filtering = { ...keepAlive, allowPrivateIPAddress: true }
  const client = create({
    proxy: false,
    maxRedirects: 0,
    httpAgent: new RequestFilteringHttpAgent(filtering),
    httpsAgent: new RequestFilteringHttpsAgent(filtering)
  })

  return [
    {
      name: "undici.request",
      work: repeat(async () => {
        const response = await request(byAddress, { method: "POST", body, headers, dispatcher: agent })
        expect200(response.statusCode)
        await response.body.dump()
      })
    },
    {
      name: "dispatcher (promise)",
      work: repeat(async () => {
        const outcome = await promises.send({ url: byName, body, headers })
        expect200("status" in outcome ? outcome.status : 0)
      })
    },
    {
      name: "dispatcher (Effect)",
      work: (until) => runtime.runPromise(repeatEffect(until))
    },
    {
      name: "node:http",
      work: repeat(
        () =>
          new Promise<void>((resolve, reject) => {
            const outgoing = nodeRequest(byAddress, { method: "POST", agent: nodeAgent, headers }, (response) => {
              response.resume()
              response.once("end", resolve)
            })
            outgoing.once("error", reject)
            outgoing.end(body)
          })
      )
    },
    {
      name: "fetch",
      work: repeat(async () => {
        const response = await fetch(byAddress, { method: "POST", body, headers })
        expect200(response.status)
        await response.arrayBuffer()
      })
    },
    {
      name: "axios + request-filtering-agent",
      work: repeat(async () => {
        const response = await client.post(byAddress, body, { headers })
        expect200(response.status)
      })
    }
  ]
}
