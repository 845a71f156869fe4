/**
 * A program that sends once and closes nothing. It has to end nevertheless. Prints the outcome, and for how many milliseconds
 * the process stayed after it.
 */
import { makeDispatcher } from "@govoice/dispatcher"

const [url = "", ca] = process.argv.slice(2)

const { send } = makeDispatcher({
  allowHttp: true,
  allowNetworks: ["127.0.0.0/8"],
  resolve: async () => ["127.0.0.1"],
  ...(ca === undefined ? undefined : { tls: { ca } })
})
const outcome = await send({ url, body: "" })
const endedAt = performance.now()
process.once("exit", () => {
  process.stdout.write(JSON.stringify({ outcome: outcome._tag, stayedMs: performance.now() - endedAt }))
})
