/**
 * Measures deliveries to receivers like those on the internet, beside graphile-worker and BullMQ with undici at the same number
 * in flight: TLS, 1,000 endpoints on 200 names that answer after 20 to 500 ms, of which 5 % fail and 1 % hang.
 *
 * Prints a report in Markdown. Exits with 1 when a ratio misses its goal: at least the deliveries per second of the best peer,
 * at most half the 95th percentile of its healthy endpoints, 95 % of reconnects with a resumed session, and flat memory
 * where that was measured.
 *
 * First each contestant drains a backlog: deliveries per second count the healthy endpoints until 95 % of theirs arrived,
 * because the last ones wait for those that hang. Then events come at a steady rate for `BENCH_MINUTES` (1). Govoice goes on for
 * `BENCH_MEMORY_MINUTES` (0) after its last round: memory is flat if the most of the last five minutes is at most that
 * of the first five. `BENCH_ROUNDS`, `BENCH_BACKLOG`, `BENCH_RATE` and `BENCH_IN_FLIGHT` change the rest.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { cpus, loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { makeAuthority } from "../../packages/dispatcher/test/support/certificates.ts"
import { startDatabase } from "../engine/database.ts"
import { redisRemedy } from "../engine/peers.ts"
import { sleep, until } from "../engine/processes.ts"
import { type Comparison, judge, median } from "../ratios.ts"
import { exitOnSignals, inTurn } from "../variants.ts"
import { bullMq, type Contestant, govoice, graphileWorker, type Setup } from "./contestants.ts"
import { endpoints, seeded } from "./endpoints.ts"
import type { Received } from "./receiver.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const minutes = Number(process.env["BENCH_MINUTES"] ?? 1)
const memoryMinutes = Number(process.env["BENCH_MEMORY_MINUTES"] ?? 0)
const backlog = Number(process.env["BENCH_BACKLOG"] ?? 10_000)
const rate = Number(process.env["BENCH_RATE"] ?? 400)
const inFlight = Number(process.env["BENCH_IN_FLIGHT"] ?? 100)
const tickMs = 25

interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p95: number
  /** The part of the healthy events of the steady phase that arrived until five seconds after it. */
  readonly arrived: number
  readonly cpuMs: number
  readonly rssMiB: readonly [early: number, late: number]
  readonly handshakes: number
  readonly reconnects: number
  readonly resumed: number
}

exitOnSignals()
const authority = makeAuthority("Benchmark authority")
const folder = mkdtempSync(join(tmpdir(), "bench-receivers-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
const ca = join(folder, "ca.pem")
writeFileSync(ca, authority.cert)

const receiver: ChildProcess = fork(join(import.meta.dirname, "receiver.ts"))
process.once("exit", () => receiver.kill("SIGKILL"))
receiver.send(authority.issue({ names: ["*.receivers.test"] }))
const [port] = (await once(receiver, "message")) as [number]
const ask = async <A>(message: string): Promise<A> => {
  const answer = once(receiver, "message")
  receiver.send(message)
  return ((await answer) as [A])[0]
}
const count = () => ask<number>("count")

const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
const isHealthy = (n: number): boolean => endpoints[n]!.kind === "healthy"

/** Stores events at the rate, and returns how many were for healthy endpoints. */
const emit = async ({ store }: Contestant, seconds: number, random: () => number): Promise<number> => {
  const begun = performance.now()
  const total = rate * seconds
  let sent = 0
  let healthy = 0
  while (sent < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - begun) / 1000) * rate))
    const chosen = Array.from({ length: due - sent }, () => Math.floor(random() * endpoints.length))
    sent = due
    healthy += chosen.filter(isHealthy).length
    if (chosen.length > 0) await store(chosen)
    await sleep(tickMs)
  }
  return healthy
}

const drain = async (contestant: Contestant, random: () => number): Promise<number> => {
  const chosen = Array.from({ length: backlog }, () => Math.floor(random() * endpoints.length))
  contestant.worker.child.kill("SIGSTOP")
  for (let stored = 0; stored < backlog; stored += 1000) await contestant.store(chosen.slice(stored, stored + 1000))
  await ask("reset")
  contestant.worker.child.kill("SIGCONT")
  const most = Math.floor(chosen.filter(isHealthy).length * 0.95)
  await until("the backlog", async () => (await count()) >= most, 300_000, 100)
  const { arrivals } = await ask<Received>("report")
  return (most * 1000) / (arrivals[most - 1]! - arrivals[0]!)
}

/** The most memory of the worker in each minute of the steady rate, in MiB. */
const memory = async (contestant: Contestant, random: () => number): Promise<ReadonlyArray<number>> => {
  const perMinute: Array<number> = []
  for (let minute = 0; minute < memoryMinutes; minute++) {
    const samples: Array<number> = []
    const sampling = setInterval(() => samples.push(contestant.worker.rss()), 1000)
    await emit(contestant, 60, random)
    clearInterval(sampling)
    // The receiver forgets what arrived.
    await ask("reset")
    perMinute.push(Math.max(...samples))
    console.error(`minute ${minute + 1}: ${perMinute.at(-1)} MiB`)
  }
  return perMinute
}

const measure = async (
  start: (setup: Setup) => Promise<Contestant | undefined>,
  goOn: (contestant: Contestant, random: () => number) => Promise<void>
): Promise<Measured | undefined> => {
  await ask("new client")
  const contestant = await start({ database, port, ca, inFlight })
  if (contestant === undefined) return undefined
  const { worker } = contestant
  const random = seeded(1)
  try {
    // Compiles, and connects to every name.
    await contestant.store(endpoints.map((_, n) => n).filter(isHealthy))
    await until("the worker", async () => (await count()) >= endpoints.length * 0.9, 60_000, 100)
    await sleep(1000)
    const perSecond = await drain(contestant, random)
    await sleep(12_000)

    await ask("reset")
    const [cpu, early] = [worker.cpu(), worker.rss()]
    const healthy = await emit(contestant, minutes * 60, random)
    await sleep(5000)
    const used = worker.cpu() - cpu
    const report = await ask<Received>("report")
    const late = worker.rss()
    await goOn(contestant, random)
    return {
      perSecond,
      p50: percentile(report.latencies, 0.5),
      p95: percentile(report.latencies, 0.95),
      arrived: report.latencies.length / healthy,
      cpuMs: (used * 1000) / report.requests,
      rssMiB: [early, late],
      handshakes: report.handshakes,
      reconnects: report.reconnects,
      resumed: report.resumed
    }
  } finally {
    await contestant.stop()
  }
}

const database = await startDatabase()
const contestants = { Govoice: govoice, "graphile-worker": graphileWorker, BullMQ: bullMq }
const measured = new Map<string, Array<Measured>>()
let perMinute: ReadonlyArray<number> = []
const loadBefore = loadavg()[0]!
try {
  for (let round = 0; round < rounds; round++) {
    for (const [name, start] of inTurn(Object.entries(contestants), round)) {
      const one = await measure(start, async (contestant, random) => {
        if (name === "Govoice" && round === rounds - 1) perMinute = await memory(contestant, random)
      })
      if (one === undefined) continue
      measured.set(name, [...(measured.get(name) ?? []), one])
      console.error(`${round + 1} ${name}: ${JSON.stringify(one)}`)
    }
  }
} finally {
  await database.stop()
  receiver.kill("SIGKILL")
}

const figures = (name: string, figure: (one: Measured) => number) => measured.get(name)!.map(figure)
const row = (name: string): string => {
  if (!measured.has(name)) return `| ${name} | not measured: ${redisRemedy} | | | | | | | |`
  const of = (figure: (one: Measured) => number) => median(figures(name, figure))
  const cells = [
    name,
    of(({ perSecond }) => perSecond).toFixed(0),
    of(({ p50 }) => p50).toFixed(0),
    of(({ p95 }) => p95).toFixed(0),
    of(({ arrived }) => arrived * 100).toFixed(1),
    of(({ cpuMs }) => cpuMs).toFixed(3),
    `${of(({ rssMiB }) => rssMiB[0])} → ${of(({ rssMiB }) => rssMiB[1])}`,
    of(({ handshakes }) => handshakes),
    `${of(({ resumed }) => resumed)} of ${of(({ reconnects }) => reconnects)}`
  ]
  return `| ${cells.join(" | ")} |`
}
const peers = [...measured.keys()].filter((name) => name !== "Govoice")
/** The peer whose median of a figure is the best: the greatest or the least. */
const best = (figure: (one: Measured) => number, better: "greatest" | "least"): string =>
  peers.toSorted((a, b) => {
    const difference = median(figures(a, figure)) - median(figures(b, figure))
    return better === "least" ? difference : -difference
  })[0]!
const beside = (name: string, figure: (one: Measured) => number) => ({
  measured: figures("Govoice", figure),
  reference: name,
  beside: figures(name, figure)
})
const ofRate = (one: Measured) => one.perSecond
const ofP95 = (one: Measured) => one.p95
const comparisons: ReadonlyArray<Comparison> = [
  { figure: "deliveries/s of a backlog", ...beside(best(ofRate, "greatest"), ofRate), atLeast: 1 },
  { figure: "p95 of healthy endpoints beside hangs, ms", ...beside(best(ofP95, "least"), ofP95), atMost: 0.5 },
  {
    figure: "resumed sessions",
    measured: figures("Govoice", ({ resumed }) => resumed),
    reference: "reconnects",
    beside: figures("Govoice", ({ reconnects }) => reconnects),
    atLeast: 0.95
  },
  ...(perMinute.length < 10
    ? []
    : [
        {
          figure: "memory of the last five minutes, MiB",
          measured: [Math.max(...perMinute.slice(-5))],
          reference: "of the first five",
          beside: [Math.max(...perMinute.slice(0, 5))],
          atMost: 1.1
        }
      ])
]
const { exitCode, report } = judge(comparisons)
console.log(`# Receivers

Node ${process.versions.node}, Postgres 18 with fsync, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, shared by worker, database, receivers and load; load average ${loadBefore.toFixed(1)} before and ${loadavg()[0]!.toFixed(1)} after.
TLS, ${endpoints.length} endpoints on 200 names, ${inFlight} in flight. A backlog of ${backlog}, then ${rate} events/s for ${minutes} minutes; ${rounds} rounds, medians.

| | deliveries/s | p50, ms | p95, ms | arrived, % | worker CPU each, ms | memory, MiB | handshakes | resumed |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${Object.keys(contestants).map(row).join("\n")}

Latencies are from the creation of an event to its receipt, of healthy endpoints in the steady phase.
${perMinute.length === 0 ? "" : `\nMost memory of Govoice in each minute, MiB: ${perMinute.join(" ")}\n`}
${report}`)
process.exit(exitCode)
