/** A program whose environment has a proxy for everything. Sends to the URL of its argument with each API. */
import { Dispatcher, makeDispatcher } from "@govoice/dispatcher"
import * as Effect from "effect/Effect"

const [url = "", ca = ""] = process.argv.slice(2)
const options = {
  allowHttp: true,
  allowNetworks: ["127.0.0.0/8"],
  resolve: async () => ["127.0.0.1"],
  ...(ca === "" ? undefined : { tls: { ca } })
}

const dispatcher = makeDispatcher(options)
const promised = await dispatcher.send({ url, body: "{}" })
const effect = Effect.flatMap(Dispatcher, ({ send }) => send({ url, body: "{}" }))
const run = await Effect.runPromise(Effect.provide(effect, Dispatcher.layer(options)))
console.log(JSON.stringify([promised._tag, run._tag]))
await dispatcher.close()
