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
import { type Comparison, judge, median, ratiosOf } from "../ratios.ts"
import type { Measured } from "./client.ts"

const inFlight = 50
const bodyBytes = 1_024
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 9)
const roundMs = Number(process.env["BENCH_ROUND_MS"] ?? 1_000)
const leastRatio = 0.8
const ours = ["dispatcher (promise)", "dispatcher (Effect)"]

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

type Rounds = Measured["rounds"]

const row = ({ name, rounds }: Measured, reference: Rounds): string => {
  const of = (figure: keyof Rounds[number]) => rounds.map((one) => one[figure])
  const ratio = (figure: "perSecond" | "cpuMicros") =>
    median(
      ratiosOf(
        of(figure),
        reference.map((one) => one[figure])
      )
    ).toFixed(2)
  const rates = of("perSecond")
  const whole = (value: number) => Math.round(value).toLocaleString("en")
  const cells = [
    name,
    whole(median(rates)),
    `${whole(Math.min(...rates))} – ${whole(Math.max(...rates))}`,
    ratio("perSecond"),
    median(of("cpuMicros")).toFixed(1),
    ratio("cpuMicros"),
    newSockets(rounds)
  ]
  return `| ${cells.join(" | ")} |`
}

const newSockets = (rounds: Rounds): number => rounds.reduce((sum, one) => sum + one.newSockets, 0)

const comparisonsOf = (scheme: string, { name, rounds }: Measured, reference: Rounds): ReadonlyArray<Comparison> => [
  {
    figure: `${scheme}: ${name}, requests/s`,
    measured: rounds.map(({ perSecond }) => perSecond),
    reference: "`undici.request`",
    beside: reference.map(({ perSecond }) => perSecond),
    atLeast: leastRatio
  },
  {
    figure: `${scheme}: ${name}, new sockets`,
    measured: [newSockets(rounds)],
    reference: "in flight",
    beside: [inFlight],
    atMost: 0
  }
]

try {
  const comparisons: Array<Comparison> = []
  console.log(`# One request: the dispatcher and others

Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}. ${inFlight} in flight, POST of ${bodyBytes} bytes to one
receiver on loopback that answers 200 "ok". ${rounds} rounds of ${roundMs} ms after a warm-up, order reversed each round; medians.
"Ratio" and "CPU ratio" are against \`undici.request\` of the same round.
`)
  for (const scheme of ["http", "https"] as const) {
    const measured = await run(scheme)
    const reference = measured.find(({ name }) => name === "undici.request")!.rounds
    console.log(`## ${scheme === "http" ? "HTTP" : "TLS"}

| variant | requests/s | least – most | ratio | client CPU µs/request | CPU ratio | new sockets |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${measured.map((variant) => row(variant, reference)).join("\n")}
`)
    for (const variant of measured.filter(({ name }) => ours.includes(name))) {
      comparisons.push(...comparisonsOf(scheme === "http" ? "HTTP" : "TLS", variant, reference))
    }
  }
  const { exitCode, report } = judge(comparisons)
  console.log(`## Limits of this benchmark

It shows the cost of judging, pinning, limiting and classifying every request, compared with plain requests. Names are looked
up in memory, because a name server on loopback would cost more than the client: with real DNS an attempt also waits for its
answer, and concurrent attempts to one name share it. Receiver and client share the machine, so requests per second depend
on both; CPU per request is that of the client alone. Loopback has hardly any latency, which makes the share of the client as
large as possible.

${report}`)
  process.exitCode = exitCode
} finally {
  rmSync(folder, { recursive: true })
}
