/** A program that sends once and closes nothing. It has to end nevertheless. */
import { makeDispatcher } from "@govoice/dispatcher"

const [url = "", ca] = process.argv.slice(2)

const { send } = makeDispatcher({
  allowHttp: true,
  allowNetworks: ["127.0.0.0/8"],
  resolve: async () => ["127.0.0.1"],
  ...(ca === undefined ? undefined : { tls: { ca } })
})
const outcome = await send({ url, body: "" })
process.stdout.write(outcome._tag)
