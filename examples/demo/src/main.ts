/**
 * The main job of Govoice, end to end, on this machine alone: a server, a receiver, an account, an invoice, its webhooks,
 * its receipt, its delivery records, and then everything else that can happen to an invoice.
 */
import { demo } from "./demo.ts"
import { Screen } from "./Screen.ts"

const screen = new Screen(process.stdout)
const stopped = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort())
// Whoever reads may have seen enough, `head` for one.
process.stdout.on("error", () => stopped.abort())

try {
  await demo(screen, stopped.signal)
} catch (error) {
  screen.status("")
  screen.line()
  screen.line(screen.style("red", stopped.signal.aborted ? "Stopped." : "The demo failed."))
  if (!stopped.signal.aborted) {
    screen.line(error instanceof Error ? error.message : String(error))
    screen.line()
    screen.line("Try it again; if it fails again, `npx -y pnpm@12 test` says what does not work on this machine.")
  }
  process.exitCode = 1
}
