/**
 * Compares a request of the dispatcher with one of undici and one of each common alternative.
 *
 * `node --conditions=source bench/dispatcher/run.ts` prints a report in Markdown. It exits with 1 if a goal is missed: at
 * least 0.8 of `undici.request` and no new socket in steady state, over HTTP and over TLS. `BENCH_ROUNDS` and
 * `BENCH_ROUND_MS` set its length.
 *
 * Client and receiver run in separate processes, so that the CPU time is that of the client alone.
 */
import { fork } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { makeAuthority } from "../../packages/dispatcher/test/support/certificates.ts"
import type { Measured } from "./client.ts"

const inFlight = 50
const bodyBytes = 1_024
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 9)
const roundMs = Number(process.env["BENCH_ROUND_MS"] ?? 1_000)
const leastRatio = 0.8
const ours = ["dispatcher (promise)", "dispatcher (Effect)"]

const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const authority = makeAuthority("Benchmark authority")
const certificate = authority.issue({ names: ["bench.test"], addresses: ["127.0.0.1"] })
const folder = mkdtempSync(join(tmpdir(), "bench-dispatcher-"))
const ca = join(folder, "ca.pem")
writeFileSync(ca, authority.cert)

const run = (scheme: "http" | "https"): Promise<ReadonlyArray<Measured>> =>
  new Promise((resolve, reject) => {
    // fetch has no other way to trust a certificate authority.
    const child = fork(join(import.meta.dirname, "client.ts"), {
      execArgv: ["--conditions=source"],
      env: { ...process.env, NODE_EXTRA_CA_CERTS: ca }
    })
    child.once("message", (message) => resolve(message as ReadonlyArray<Measured>))
    child.once("exit", (code) => reject(new Error(`The client ended with ${code}`)))
    child.send({ scheme, certificate, ca: authority.cert, inFlight, bodyBytes, rounds, roundMs })
  })

interface Row {
  readonly name: string
  readonly ratio: number
  readonly sockets: number
  readonly line: string
}

const rows = (measured: ReadonlyArray<Measured>): ReadonlyArray<Row> => {
  const reference = measured.find(({ name }) => name === "undici.request")!.rounds
  return measured.map(({ name, rounds }) => {
    // Each round is compared with the reference of the same round, under the same load of the machine.
    const ratio = median(rounds.map(({ perSecond }, index) => perSecond / reference[index]!.perSecond))
    const cpu = median(rounds.map(({ cpuMicros }, index) => cpuMicros / reference[index]!.cpuMicros))
    const sockets = rounds.reduce((sum, { newSockets }) => sum + newSockets, 0)
    const rates = rounds.map(({ perSecond }) => perSecond)
    const whole = (value: number) => Math.round(value).toLocaleString("en")
    const line = [
      name,
      whole(median(rates)),
      `${whole(Math.min(...rates))} – ${whole(Math.max(...rates))}`,
      ratio.toFixed(2),
      median(rounds.map(({ cpuMicros }) => cpuMicros)).toFixed(1),
      cpu.toFixed(2),
      sockets
    ].join(" | ")
    return { name, ratio, sockets, line: `| ${line} |` }
  })
}

try {
  const missed: Array<string> = []
  console.log(`# One request: the dispatcher and others

Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}. ${inFlight} in flight, POST of ${bodyBytes} bytes to one
receiver on loopback that answers 200 "ok". ${rounds} rounds of ${roundMs} ms after a warm-up, order reversed each round; medians.
"Ratio" and "CPU ratio" are against \`undici.request\` of the same round.
`)
  for (const scheme of ["http", "https"] as const) {
    const table = rows(await run(scheme))
    console.log(`## ${scheme === "http" ? "HTTP" : "TLS"}

| variant | requests/s | least – most | ratio | client CPU µs/request | CPU ratio | new sockets |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${table.map(({ line }) => line).join("\n")}
`)
    for (const { name, ratio, sockets } of table) {
      if (!ours.includes(name)) continue
      if (ratio < leastRatio) missed.push(`${scheme}: ${name} has a ratio of ${ratio.toFixed(2)}, below ${leastRatio}`)
      if (sockets > 0) missed.push(`${scheme}: ${name} opened ${sockets} sockets in steady state`)
    }
  }
  console.log(`## Limits of this benchmark

It shows the cost of judging, pinning, limiting and classifying every request, compared with plain requests. Names are looked
up in memory, because a name server on loopback would cost more than the client: with real DNS an attempt also waits for its
answer, and concurrent attempts to one name share it. Receiver and client share the machine, so requests per second depend
on both; CPU per request is that of the client alone. Loopback has hardly any latency, which makes the share of the client as
large as possible.

${missed.length === 0 ? "Goals met: at least 0.8 of `undici.request`, no new socket in steady state." : `Goals missed:\n\n${missed.map((line) => `- ${line}`).join("\n")}`}`)
  process.exitCode = missed.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}
