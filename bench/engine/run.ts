/**
 * Measures the engine and prints a report in Markdown: the drain rate with one, two and four workers, the latency from event
 * to receipt, statements and CPU time per delivery, the effect of a neighbor, and the drain rate of other queues.
 *
 * `node --conditions=source bench/engine/run.ts [quick|full]`. `quick` takes about eight minutes; `full` also measures claims
 * on a million available rows and memory over a million deliveries, and takes about twenty-five. Exits with 1 when a goal of
 * the architecture is missed.
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
import { drain } from "./drain.ts"
import { latency, neighbour } from "./load.ts"
import * as Peers from "./peers.ts"
import { startReceiver } from "./processes.ts"

const full = process.argv.includes("full")
const only = process.argv.slice(2).filter((word) => word !== "full" && word !== "quick")
const includes = (part: string): boolean => only.length === 0 || only.includes(part)

const count = full ? 50_000 : 20_000
const seconds = full ? 20 : 6

const missed: Array<string> = []
const expect = (goal: string, holds: boolean): void => {
  if (!holds) missed.push(goal)
}
const print = (...lines: ReadonlyArray<string>): void => console.log(lines.join("\n"))
const whole = (value: number): string => Math.round(value).toLocaleString("en")
const figure = (value: number): string => (Number.isNaN(value) ? "-" : value.toFixed(3))
const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((left, right) => left - right)[values.length >> 1]!

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
    print(
      `## A backlog of ${whole(count)} deliveries of 50 organizations`,
      "",
      "| workers | deliveries/s | statements each | CPU of the workers each, ms | CPU of Postgres each, ms | memory, MiB | twice |",
      "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    for (const workers of [1, 2, 4]) {
      const drained = await drain(database, receiver, { count, workers })
      print(
        `| ${workers} | ${whole(drained.perSecond)} | ${drained.statementsPerDelivery.toFixed(3)} | ${drained.workerCpuMs.toFixed(3)} | ${drained.databaseCpuMs?.toFixed(3)} | ${drained.rssMiB[1]} | ${drained.duplicates} |`
      )
      expect(`${workers} workers drain at least 2,500/s`, drained.perSecond >= 2500)
      expect("nothing comes twice", drained.duplicates === 0)
      expect("less than a statement for each", drained.statementsPerDelivery < 1)
    }
    print("")
  }

  if (includes("peers")) {
    const backlog = 200_000
    const rounds = full ? 5 : 3
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
      for (const [name, contestant] of Object.entries(contestants)) {
        const one = await contestant()
        if (one !== undefined) (drained[name] ??= []).push(one)
      }
    }
    const rate = (name: string): number => median(drained[name]!.map(({ perSecond }) => perSecond))
    for (const name of Object.keys(contestants)) {
      const all = drained[name]
      if (all === undefined) {
        print(`| ${name} | not measured: there is no redis-server | | | | |`)
        continue
      }
      const rates = all.map(({ perSecond }) => whole(perSecond)).join(", ")
      const statements = median(all.map(({ statementsPerDelivery }) => statementsPerDelivery ?? Number.NaN))
      const worker = median(all.map(({ workerCpuMs }) => workerCpuMs))
      const postgres = median(all.map(({ databaseCpuMs }) => databaseCpuMs ?? Number.NaN))
      print(
        `| ${name} | ${whole(rate(name))} | ${rates} | ${figure(statements)} | ${figure(worker)} | ${figure(postgres)} |`
      )
      expect(`ahead of ${name}`, rate("Govoice") >= rate(name))
    }
    print("")
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
      if (rate === 200) expect("p95 under 30 ms at 200/s", measured.p95 < 30)
      if (rate === 1000) expect("less than a statement for each at 1,000/s", measured.statementsPerDelivery < 1)
    }
    print("")
  }

  if (includes("neighbour")) {
    const { alone, alongHeldUp, beside } = await neighbour(database, receiver, 100, seconds)
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
    expect("the neighbour is noticed by a fifth at most", beside.p95 <= alone.p95 * 1.2 + 1)
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
    expect("claims on the largest backlog within 1.5 of the smallest", times.at(-1)! <= times[0]! * 1.5)
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
    expect("less than 256 MiB after a million", late < 256)
  }

  print(missed.length === 0 ? "All goals of the architecture are met." : `Missed: ${missed.join("; ")}.`)
} finally {
  receiver.stop()
  await database.stop()
}
process.exit(missed.length === 0 ? 0 : 1)
