/**
 * Compares the dispatchers of checkouts: sends the same requests with each in turn, and prints the medians and their ratios to
 * the first.
 *
 *     node --conditions=source bench/dispatcher/compare.ts ROUNDS MILLISECONDS LABEL=DIRECTORY...
 *
 * All send from this process to the same receiver, with 50 in flight. Ratios are taken within a round; the processor time per
 * request is the figure to trust on a shared machine.
 */
import { fork } from "node:child_process"
import { join } from "node:path"
import { makeAuthority } from "../../packages/dispatcher/test/support/certificates.ts"
import { median, ratiosOf, spreadOf } from "../ratios.ts"
import { command, exitOnSignals, inTurn, parseVariant } from "../variants.ts"
import type * as VariantsModule from "./variants.ts"

const [rounds = "6", milliseconds = "1000", ...variants] = process.argv.slice(2)
const inFlight = 50
const body = JSON.stringify({ id: "evt_1", data: "x".repeat(1000) })

interface Measured {
  readonly perSecond: number
  readonly cpuMicros: number
}

exitOnSignals()
const authority = makeAuthority("Benchmark authority")
const certificate = authority.issue({ names: ["bench.test"], addresses: ["127.0.0.1"] })

const startReceiver = async (scheme: "http" | "https") => {
  const child = fork(join(import.meta.dirname, "server.ts"))
  process.once("exit", () => child.kill())
  child.send({ scheme, certificate })
  const { port } = await new Promise<{ readonly port: number }>((resolve) =>
    child.once("message", resolve as (message: unknown) => void)
  )
  return port
}

const start = async (argument: string, scheme: "http" | "https", port: number) => {
  const { label, root } = parseVariant(argument)
  const { makeVariants } = (await import(join(root, "bench/dispatcher/variants.ts"))) as typeof VariantsModule
  const made = makeVariants({ scheme, port, ca: authority.cert, inFlight, body })
  const { work } = made.find(({ name }) => name === "dispatcher (promise)")!
  const measure = async (forMs: number): Promise<Measured> => {
    const begun = performance.now()
    const cpu = process.cpuUsage()
    const done = (await Promise.all(Array.from({ length: inFlight }, () => work(begun + forMs)))).reduce(
      (a, b) => a + b
    )
    const { system, user } = process.cpuUsage(cpu)
    return { perSecond: (done * 1000) / (performance.now() - begun), cpuMicros: (user + system) / done }
  }
  return { label, measure, measured: [] as Array<Measured> }
}

console.log(`\`${command}\`\n`)
console.log("| scheme | | requests/s | ratio | spread | CPU µs | ratio | spread |")
console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
for (const scheme of ["http", "https"] as const) {
  const port = await startReceiver(scheme)
  const started = await Promise.all(variants.map((argument) => start(argument, scheme, port)))
  for (const { measure } of started) await measure(1000)
  for (let round = 0; round < Number(rounds); round++) {
    for (const { measure, measured } of inTurn(started, round)) {
      // Opens the sockets again that were closed during the other variants.
      await measure(200)
      measured.push(await measure(Number(milliseconds)))
    }
  }
  for (const { label, measured } of started) {
    const cells = (["perSecond", "cpuMicros"] as const).flatMap((figure) => {
      const figures = measured.map((one) => one[figure])
      const ratios = ratiosOf(
        figures,
        started[0]!.measured.map((one) => one[figure])
      )
      return [median(figures).toFixed(figure === "perSecond" ? 0 : 1), median(ratios).toFixed(3), spreadOf(ratios)]
    })
    console.log(`| ${[scheme, label, ...cells].join(" | ")} |`)
  }
}
process.exit()
