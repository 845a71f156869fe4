/**
 * Runs Govoice end to end on this machine: a server, a receiver, an account, an invoice, its webhooks,
 * its receipt, its deliveries, and then the other sandbox scenarios. With `--live`, live mode against the KSeF simulator.
 */
import { demo } from "./demo.ts"
import { liveDemo } from "./liveDemo.ts"
import { Screen } from "./Screen.ts"

const screen = new Screen(process.stdout)
const stopped = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort())
// The reader of a pipe may close it, as `head` does.
process.stdout.on("error", () => stopped.abort())

try {
  await (process.argv.includes("--live") ? liveDemo : demo)(screen, stopped.signal)
} catch (error) {
  screen.status("")
  screen.line()
  screen.line(screen.style("red", stopped.signal.aborted ? "Stopped." : "The demo failed."))
  if (!stopped.signal.aborted) {
    screen.line(error instanceof Error ? error.message : String(error))
    screen.line()
    screen.line("Run it again. If it still fails, run `npx -y pnpm@12 test` to find the cause.")
  }
  process.exitCode = 1
}
