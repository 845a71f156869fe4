/**
 * Measures the engine and prints a report in Markdown: the drain rate with one and four warm workers, the latency from event
 * to receipt, statements and CPU time per delivery, the effect of a neighbor, the drain rate of other queues, the statements
 * beside plain ones, what a snapshot that is held open costs claims, and the storage of an invoice.
 *
 * `node --conditions=source bench/engine/run.ts [quick|full]`. `quick` takes about ten minutes; `full` also measures sixteen
 * workers, claims on a million available rows and memory over a million deliveries, and takes about forty. Exits with 1 when a ratio of
 * the same run misses its goal: several workers beside one, the drain beside the other queues, latency beside graphile-worker,
 * a neighbor, claims and memory beside the same without the burden.
 *
 * Rates are from the first receipt to the last. CPU time counts from the first request, so that the start of a process is
 * left out. The backlog beside other queues is large enough for compilation not to matter, and the queues take turns, so
 * that a slow phase of a shared machine affects all of them.
 *
 * Limits: there is no network and no TLS. Postgres, workers, receiver and this program share the processors, so rates are
 * lower and latencies higher than on separate machines. The other queues do less for each job: they have no concurrency
 * limit or fairness among tenants, no check of the address, and no record of the delivery.
 */
import { cpus } from "node:os"
import { claimTime } from "./claims.ts"
import { startDatabase } from "./database.ts"
import { drain, type Drained } from "./drain.ts"
import { type Comparison, judge, median } from "../ratios.ts"
import { inTurn } from "../variants.ts"
import { type Latency, latency, latencyOfPeer, neighbor } from "./load.ts"
import * as Peers from "./peers.ts"
import { blocksOfClaims, drainByStatements, type Drained as StatementsDrained } from "./plain.ts"
import { startReceiver } from "./processes.ts"
import { storage } from "./storage.ts"

const full = process.argv.includes("full")
const only = process.argv.slice(2).filter((word) => word !== "full" && word !== "quick")
const includes = (part: string): boolean => only.length === 0 || only.includes(part)

const seconds = full ? 20 : 6
const rounds = full ? 5 : 3

const comparisons: Array<Comparison> = []
/** Compares figures of one round each, or a count with its limit. */
const compare = (
  figure: string,
  measured: number,
  reference: string,
  beside: number,
  goal: Pick<Comparison, "atLeast" | "atMost">
): void => void comparisons.push({ figure, measured: [measured], reference, beside: [beside], ...goal })
const print = (...lines: ReadonlyArray<string>): void => console.log(lines.join("\n"))
const whole = (value: number): string => Math.round(value).toLocaleString("en")
const figure = (value: number): string => (Number.isNaN(value) ? "-" : value.toFixed(3))
const databaseCpu = ({ databaseCpuMs = Number.NaN }: Drained): number => databaseCpuMs
const cpu = (one: Drained): number => one.workerCpuMs + databaseCpu(one)

const database = await startDatabase()
const receiver = await startReceiver()
try {
  print(
    "# The engine",
    "",
    `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, Postgres 18 with fsync, all on this machine.`,
    ""
  )

  if (includes("drain")) {
    const backlog = full ? 200_000 : 50_000
    // How many each worker delivers before, on average, so that compilation does not count.
    const warmUpEach = 20_000
    print(
      `## A backlog of ${whole(backlog)} deliveries of 50 organizations, warm workers`,
      "",
      "| workers | deliveries/s | statements each | CPU of the workers each, ms | CPU of Postgres each, ms | memory, MiB | twice |",
      "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    const workerCounts = full ? [1, 4, 16] : [1, 4]
    const drained = new Map(workerCounts.map((workers) => [workers, [] as Array<Drained>]))
    for (let round = 0; round < rounds; round++) {
      for (const workers of inTurn(workerCounts, round)) {
        const warmUp = warmUpEach * workers
        drained.get(workers)!.push(await drain(database, receiver, { count: backlog, workers, warmUp }))
      }
    }
    for (const [workers, all] of drained) {
      const of = (figure: (one: Drained) => number) => median(all.map(figure))
      const statements = of(({ statementsPerDelivery }) => statementsPerDelivery)
      const duplicates = of((one) => one.duplicates)
      print(
        `| ${workers} | ${whole(of(({ perSecond }) => perSecond))} | ${statements.toFixed(3)} | ${of(({ workerCpuMs }) => workerCpuMs).toFixed(3)} | ${of(databaseCpu).toFixed(3)} | ${of(({ rssMiB }) => rssMiB[1])} | ${duplicates} |`
      )
      const name = `${workers} workers`
      compare(`${name}, statements`, statements, "deliveries", 1, { atMost: 1 })
      compare(`${name}, received twice`, duplicates, "deliveries", backlog, { atMost: 0 })
    }
    const ofOne = drained.get(1)!
    comparisons.push({
      figure: "4 workers, deliveries/s",
      measured: drained.get(4)!.map(({ perSecond }) => perSecond),
      reference: "1 worker",
      beside: ofOne.map(({ perSecond }) => perSecond),
      atLeast: 1
    })
    for (const [workers, atMost] of [
      [4, 1.1],
      [16, 1.25]
    ] as const) {
      const all = drained.get(workers)
      if (all === undefined) continue
      comparisons.push({
        figure: `${workers} workers, CPU with Postgres each, ms`,
        measured: all.map(cpu),
        reference: "1 worker",
        beside: ofOne.map(cpu),
        atMost
      })
    }
    print("")
  }

  if (includes("peers")) {
    const backlog = 200_000
    print(
      `## The same POSTs from other queues (a backlog of ${whole(backlog)}, one worker, in turns, the median of ${rounds})`,
      "",
      "| queue | deliveries/s | all rounds | statements each | CPU of the worker each, ms | CPU of Postgres each, ms |",
      "| --- | ---: | ---: | ---: | ---: | ---: |"
    )
    const contestants = {
      Govoice: () => drain(database, receiver, { count: backlog }),
      "pg-boss": () => Peers.pgBoss(database, receiver, backlog),
      "graphile-worker": () => Peers.graphileWorker(database, receiver, backlog),
      BullMQ: () => Peers.bullMq(receiver, backlog)
    }
    const drained: Record<string, Array<Peers.PeerDrained>> = {}
    for (let round = 0; round < rounds; round++) {
      for (const [name, contestant] of inTurn(Object.entries(contestants), round)) {
        const one = await contestant()
        if (one !== undefined) (drained[name] ??= []).push(one)
      }
    }
    const rate = (name: string): number => median(drained[name]!.map(({ perSecond }) => perSecond))
    for (const name of Object.keys(contestants)) {
      const all = drained[name]
      if (all === undefined) {
        print(`| ${name} | not measured: ${Peers.redisRemedy} | | | | |`)
        continue
      }
      const rates = all.map(({ perSecond }) => whole(perSecond)).join(", ")
      const statements = median(all.map(({ statementsPerDelivery }) => statementsPerDelivery ?? Number.NaN))
      const worker = median(all.map(({ workerCpuMs }) => workerCpuMs))
      const postgres = median(all.map(({ databaseCpuMs }) => databaseCpuMs ?? Number.NaN))
      print(
        `| ${name} | ${whole(rate(name))} | ${rates} | ${figure(statements)} | ${figure(worker)} | ${figure(postgres)} |`
      )
    }
    const names = Object.keys(drained).filter((name) => name !== "Govoice")
    const best = names.reduce((one, other) => (rate(other) > rate(one) ? other : one))
    comparisons.push({
      figure: "drain, deliveries/s",
      measured: drained["Govoice"]!.map(({ perSecond }) => perSecond),
      reference: `${best}, the best of the others`,
      beside: drained[best]!.map(({ perSecond }) => perSecond),
      atLeast: 1.15
    })
    print("")
  }

  if (includes("plain")) {
    print(
      "## The statements beside plain ones, without requests (in turns, medians)",
      "",
      "| organizations | workers | waiting | Postgres each, ms | plain | deliveries/s | plain |",
      "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    for (const backlog of [
      { tenants: 50, workers: 1, count: 30_000 },
      { tenants: 1000, workers: 1, count: 20_000 },
      { tenants: 50, workers: 4, count: 40_000 }
    ]) {
      const drained: Record<"house" | "plain", Array<StatementsDrained>> = { house: [], plain: [] }
      for (let round = 0; round < rounds; round++) {
        for (const kind of inTurn(["house", "plain"] as const, round)) {
          drained[kind].push(await drainByStatements(database, kind, backlog))
        }
      }
      const cpuOf = (kind: "house" | "plain") => drained[kind].map(({ databaseCpuMs }) => databaseCpuMs)
      const rateOf = (kind: "house" | "plain") => whole(median(drained[kind].map(({ perSecond }) => perSecond)))
      const { count, tenants, workers } = backlog
      print(
        `| ${whole(tenants)} | ${workers} | ${whole(count)} | ${figure(median(cpuOf("house")))} | ${figure(median(cpuOf("plain")))} | ${rateOf("house")} | ${rateOf("plain")} |`
      )
      comparisons.push({
        figure: `${tenants} organizations, ${workers} workers, Postgres each, ms`,
        measured: cpuOf("house"),
        reference: "plain statements",
        beside: cpuOf("plain"),
        atMost: 1.2
      })
    }
    print("")
  }

  if (includes("snapshot")) {
    const count = 20_000
    const blocks = { held: [] as Array<number>, none: [] as Array<number> }
    for (let round = 0; round < rounds; round++) {
      for (const kind of inTurn(["held", "none"] as const, round)) {
        blocks[kind].push(await blocksOfClaims(database, kind === "held", count))
      }
    }
    print(
      `## Claims of ${whole(count)} deliveries of 50 organizations while a snapshot is held open (in turns, medians)`,
      "",
      `Blocks that a claim reads: ${whole(median(blocks.held))}; without the snapshot ${whole(median(blocks.none))}.`,
      ""
    )
    comparisons.push({
      figure: "a snapshot held open, blocks of a claim",
      measured: blocks.held,
      reference: "without",
      beside: blocks.none,
      atMost: 2
    })
  }

  if (includes("latency")) {
    print(
      "## From the creation of an event to its receipt, 20 organizations",
      "",
      "| events/s | received/s | p50, ms | p95, ms | p99, ms | statements each |",
      "| ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    for (const rate of [50, 200, 1000]) {
      const measured = await latency(database, receiver, rate, seconds)
      print(
        `| ${rate} | ${measured.perSecond} | ${measured.p50} | ${measured.p95} | ${measured.p99} | ${measured.statementsPerDelivery.toFixed(2)} |`
      )
      if (rate === 1000)
        compare("statements at 1,000/s", measured.statementsPerDelivery, "deliveries", 1, { atMost: 1 })
    }
    const [ours, peers]: [Array<Latency>, Array<Latency>] = [[], []]
    const sides = [
      async () => void ours.push(await latency(database, receiver, 200, seconds)),
      async () => void peers.push(await latencyOfPeer(database, receiver, 200, seconds))
    ]
    for (let round = 0; round < rounds; round++) for (const side of inTurn(sides, round)) await side()
    comparisons.push({
      figure: "event to receipt at 200/s, p95, ms",
      measured: ours.map(({ p95 }) => p95),
      reference: "graphile-worker",
      beside: peers.map(({ p95 }) => p95),
      atMost: 1.5
    })
    print("")
  }

  if (includes("neighbor")) {
    const { alone, alongHeldUp, beside } = await neighbor(database, receiver, 100, seconds)
    print(
      "## A healthy organization beside one with 10,000 deliveries to a receiver that hangs",
      "",
      "| | p50, ms | p95, ms | p99, ms |",
      "| --- | ---: | ---: | ---: |",
      `| alone | ${alone.p50} | ${alone.p95} | ${alone.p99} |`,
      `| beside it (${whole(alongHeldUp)} still available) | ${beside.p50} | ${beside.p95} | ${beside.p99} |`,
      ""
    )
    // The resolution of the timestamps is a millisecond.
    compare("p95 beside the neighbor, ms", beside.p95 - 1, "alone", alone.p95, { atMost: 1.2 })
  }

  if (includes("claims")) {
    print(
      "## What a claim costs the database",
      "",
      "| waiting | claims | for a hundred rows, ms | longest, ms |",
      "| ---: | ---: | ---: | ---: |"
    )
    const times: Array<number> = []
    for (const backlog of full ? [1000, 10_000, 100_000, 1_000_000] : [1000, 10_000, 100_000]) {
      const { claims, hundredMs, maxMs } = await claimTime(database, receiver, backlog)
      times.push(hundredMs)
      print(`| ${whole(backlog)} | ${claims} | ${hundredMs.toFixed(2)} | ${maxMs.toFixed(2)} |`)
    }
    compare("a claim of a hundred on the largest backlog, ms", times.at(-1)!, "on the smallest", times[0]!, {
      atMost: 1.5
    })
    print("")
  }

  if (full && includes("memory")) {
    const drained = await drain(database, receiver, { count: 1_000_000, withinMs: 900_000 })
    const [early, late] = drained.rssMiB
    print(
      "## Memory over a million deliveries",
      "",
      `${early} MiB are resident after the first hundred thousand and ${late} MiB after all of them, at ${whole(drained.perSecond)} deliveries/s.`,
      ""
    )
    compare("memory after a million, MiB", late, "after a hundred thousand", early, { atMost: 1.1 })
  }

  if (includes("storage")) {
    const expired = 1_000_000
    const { invoice, retention } = await storage(database, receiver, { invoices: 4000, expired })
    const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1)
    print(
      "## What is written and kept",
      "",
      "| | log, kB | tables and indexes, kB | ms |",
      "| --- | ---: | ---: | ---: |",
      `| a sandbox invoice with one endpoint | ${kilobytes(invoice.wal)} | ${kilobytes(invoice.disk)} | |`,
      `| dropping the week of ${whole(expired)} deliveries | ${kilobytes(retention.wal)} | | ${whole(retention.milliseconds)} |`,
      ""
    )
    compare("log of a sandbox invoice, bytes", invoice.wal, "the goal", 9000, { atMost: 1 })
    compare("disk of a sandbox invoice, bytes", invoice.disk, "the goal", 7000, { atMost: 1 })
    compare("retention of a million deliveries, ms", retention.milliseconds, "the goal", 1000, { atMost: 1 })
    compare("its log, bytes", retention.wal, "the goal", 1_000_000, { atMost: 1 })
  }

  const { exitCode, report } = judge(comparisons)
  print(report)
  process.exitCode = exitCode
} finally {
  receiver.stop()
  await database.stop()
}
process.exit()
