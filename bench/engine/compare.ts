/**
 * Compares checkouts: drains the same backlog with each in turn, and prints the medians and their ratios to the first.
 *
 *     node --conditions=source bench/engine/compare.ts ROUNDS COUNT LABEL=DIRECTORY...
 *
 * Each checkout brings its own bench, server and schema. On a shared machine the drain rate changes by a third within an
 * hour, so the ratios are taken within a round, and the processor time of the workers and of Postgres per delivery is the
 * figure to trust. With three rounds, differences below about 5 % are noise.
 */
import { join, resolve } from "node:path"
import type * as DatabaseModule from "./database.ts"
import type * as DrainModule from "./drain.ts"
import type * as ProcessesModule from "./processes.ts"

const [rounds = "3", count = "50000", ...directories] = process.argv.slice(2)

const load = async <Module>(directory: string, file: string): Promise<Module> =>
  (await import(join(directory, "bench/engine", file))) as Module

const start = async (argument: string) => {
  const [label, directory] = argument.split("=") as [string, string]
  const root = resolve(directory)
  process.chdir(root)
  const { startDatabase } = await load<typeof DatabaseModule>(root, "database.ts")
  const { drain } = await load<typeof DrainModule>(root, "drain.ts")
  const { startReceiver } = await load<typeof ProcessesModule>(root, "processes.ts")
  const database = await startDatabase()
  const receiver = await startReceiver()
  return {
    label,
    drained: [] as Array<DrainModule.Drained>,
    drain: () => {
      process.chdir(root)
      return drain(database, receiver, { count: Number(count) })
    },
    stop: async () => {
      receiver.stop()
      await database.stop()
    }
  }
}

type Checkout = Awaited<ReturnType<typeof start>>

const cpu = ({ databaseCpuMs = Number.NaN, workerCpuMs }: DrainModule.Drained): number => workerCpuMs + databaseCpuMs

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((left, right) => left - right)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}

const row = ({ drained, label }: Checkout, first: Checkout): string => {
  const of = (figure: (one: DrainModule.Drained) => number) => median(drained.map(figure))
  const ratio = (figure: (one: DrainModule.Drained) => number) =>
    median(drained.map((one, round) => figure(one) / figure(first.drained[round]!)))
  const cells = [
    label,
    String(Math.round(of(({ perSecond }) => perSecond))),
    ratio(({ perSecond }) => perSecond).toFixed(3),
    of(({ workerCpuMs }) => workerCpuMs).toFixed(4),
    of(({ databaseCpuMs = Number.NaN }) => databaseCpuMs).toFixed(4),
    of(cpu).toFixed(4),
    ratio(cpu).toFixed(3),
    of(({ statementsPerDelivery }) => statementsPerDelivery).toFixed(4)
  ]
  return `| ${cells.join(" | ")} |`
}

const checkouts: Array<Checkout> = []
try {
  for (const argument of directories) checkouts.push(await start(argument))
  for (let round = 0; round < Number(rounds); round++) {
    // Every other round in reverse, so that a machine that slows down does not favor one of them.
    for (const checkout of round % 2 === 0 ? checkouts : checkouts.toReversed()) {
      const drained = await checkout.drain()
      checkout.drained.push(drained)
      console.error(`${round + 1} ${checkout.label}: ${drained.perSecond}/s, ${cpu(drained).toFixed(4)} ms`)
    }
  }
  console.log(
    "| | deliveries/s | ratio | worker CPU each, ms | Postgres CPU each, ms | both | ratio | statements each |"
  )
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
  for (const checkout of checkouts) console.log(row(checkout, checkouts[0]!))
} finally {
  for (const { stop } of checkouts) await stop()
}
process.exit()
