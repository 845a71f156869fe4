/**
 * Compares one request by the dispatcher with one by what it is made over, and by what people use instead.
 *
 * `node --conditions=source bench/dispatcher/run.ts` prints a report in Markdown. It ends with 1 when a target is missed: at
 * least 0.8 of `undici.request` and no new socket in steady state, over HTTP and over TLS. `BENCH_ROUNDS` and
 * `BENCH_ROUND_MS` make it shorter.
 *
 * The client runs in a process of its own, the receiver in another, so that the CPU time is that of the client alone.
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
    // fetch takes a certificate authority from nowhere else.
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
    // Each round is compared with the reference of the same round, when the machine was as busy.
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
receiver on loopback that answers 200 «ok». ${rounds} rounds of ${roundMs} ms after a warm-up, order turned each round; medians.
«Ratio» and «CPU ratio» are against \`undici.request\` of the same round.
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
  console.log(`## What this shows, and what it does not

It shows the cost of judging, pinning, bounding and classifying every request, beside plain requests that do none of it.
Names are looked up in memory, since a name server on loopback would be measured more than the client: with real DNS an
attempt also waits for its answer, and concurrent attempts to one name share it. Receiver and client share the machine, so
that requests per second depend on both; CPU per request is the client's alone. Loopback has no latency worth speaking of,
which makes the share of the client as large as it can be.

${missed.length === 0 ? "Targets met: at least 0.8 of `undici.request`, no new socket in steady state." : `Targets missed:\n\n${missed.map((line) => `- ${line}`).join("\n")}`}`)
  process.exitCode = missed.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}
