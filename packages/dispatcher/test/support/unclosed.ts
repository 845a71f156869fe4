/** A program that sends once with each face of a dispatcher and closes nothing. It has to end all the same. */
import { makeDispatcher } from "@govoice/dispatcher"

const { send } = makeDispatcher({
  allowHttp: true,
  allowNetworks: ["127.0.0.0/8"],
  resolve: async () => ["127.0.0.1"]
})
const outcome = await send({ url: process.argv[2] ?? "", body: "" })
process.stdout.write(outcome._tag)
