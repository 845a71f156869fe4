/**
 * Runs Govoice end to end on this machine: a server, a receiver, an account, an invoice, its webhooks,
 * its receipt, its deliveries, and then the other sandbox scenarios. With `--live`, live mode against the KSeF simulator.
 * With `--json`, the result is one JSON document on standard output, and everything else goes to standard error.
 */
import { demo } from "./demo.ts"
import { liveDemo } from "./liveDemo.ts"
import { Screen } from "./Screen.ts"

const unknown = process.argv.slice(2).find((argument) => !["--live", "--json", "--"].includes(argument))
if (unknown !== undefined) {
  process.stderr.write(`Unknown argument: ${unknown}. There are --live and --json.\n`)
  process.exit(2)
}

const isLive = process.argv.includes("--live")
const isJson = process.argv.includes("--json")
const screen = new Screen(isJson ? process.stderr : process.stdout)
const stopped = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort())
// The reader of a pipe may close it, as `head` does.
process.stdout.on("error", () => stopped.abort())

try {
  if (isLive && isJson) throw new Error("--json is for the demo without --live.")
  if (isLive) await liveDemo(screen, stopped.signal)
  else {
    const result = await demo(screen, stopped.signal)
    if (isJson) process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
  }
} catch (error) {
  screen.status("")
  screen.line()
  screen.line(screen.style("red", stopped.signal.aborted ? "Stopped." : "The demo failed."))
  if (!stopped.signal.aborted) {
    screen.line(error instanceof Error ? error.message : String(error))
    screen.line()
    screen.line("Run it again. If it still fails, run `npx -y pnpm@12 test` to find the cause.")
  }
  // Other calls of the demo may still wait.
  stopped.abort()
  process.exitCode = 1
}
