/**
 * Compares checkouts or settings: drains the same backlog with each variant in turn, and prints the medians and their ratios
 * to the first.
 *
 *     node --conditions=source bench/engine/compare.ts ROUNDS COUNT LABEL=DIRECTORY[,SETTING=VALUE...]...
 *
 * With and without the console, in processes that are API and worker:
 *
 *     node --conditions=source bench/engine/compare.ts 6 50000 \
 *       off=.,GOVOICE_ROLE=all,GOVOICE_CONSOLE=off on=.,GOVOICE_ROLE=all,GOVOICE_CONSOLE=on
 *
 * One, four and sixteen workers that have compiled their code, which delivering `WARM_UP` others before does:
 *
 *     node --conditions=source bench/engine/compare.ts 3 200000 \
 *       one=.,WORKERS=1,WARM_UP=100000 four=.,WORKERS=4,WARM_UP=100000 sixteen=.,WORKERS=16,WARM_UP=200000
 *
 * Each checkout brings its own bench, server and schema; variants of one checkout share a database. On a shared machine the
 * drain rate changes by a third within an hour, so the ratios are taken within a round, and the processor time of the workers
 * and of Postgres per delivery is the figure to trust. With three rounds, differences below about 5 % are noise.
 */
import { join } from "node:path"
import { median, ratiosOf, spreadOf } from "../ratios.ts"
import { buildConsoleOf, command, exitOnSignals, inTurn, parseVariant, type Settings } from "../variants.ts"
import type * as DatabaseModule from "./database.ts"
import type * as DrainModule from "./drain.ts"
import type * as ProcessesModule from "./processes.ts"

const [rounds = "3", count = "50000", ...variants] = process.argv.slice(2)

const load = async <Module>(directory: string, file: string): Promise<Module> =>
  (await import(join(directory, "bench/engine", file))) as Module

const startCheckout = async (root: string) => {
  process.chdir(root)
  const { startDatabase } = await load<typeof DatabaseModule>(root, "database.ts")
  const { drain } = await load<typeof DrainModule>(root, "drain.ts")
  const { startReceiver } = await load<typeof ProcessesModule>(root, "processes.ts")
  await buildConsoleOf(root)
  const database = await startDatabase()
  const receiver = await startReceiver()
  return {
    drain: ({ TENANTS = "50", WARM_UP = "0", WORKERS = "1", ...settings }: Settings) => {
      process.chdir(root)
      const sizes = {
        count: Number(count),
        tenants: Number(TENANTS),
        warmUp: Number(WARM_UP),
        workers: Number(WORKERS)
      }
      return drain(database, receiver, { ...sizes, settings })
    },
    stop: async () => {
      receiver.stop()
      await database.stop()
    }
  }
}

const checkouts = new Map<string, Awaited<ReturnType<typeof startCheckout>>>()

const start = async (argument: string) => {
  const { label, root, settings } = parseVariant(argument)
  const checkout = checkouts.get(root) ?? (await startCheckout(root))
  checkouts.set(root, checkout)
  return { label, drained: [] as Array<DrainModule.Drained>, drain: () => checkout.drain(settings) }
}

type Variant = Awaited<ReturnType<typeof start>>

const cpu = ({ databaseCpuMs = Number.NaN, workerCpuMs }: DrainModule.Drained): number => workerCpuMs + databaseCpuMs

const row = ({ drained, label }: Variant, first: Variant): string => {
  const of = (figure: (one: DrainModule.Drained) => number) => median(drained.map(figure))
  const ratios = (figure: (one: DrainModule.Drained) => number) =>
    ratiosOf(drained.map(figure), first.drained.map(figure))
  const [rates, cpus] = [ratios(({ perSecond }) => perSecond), ratios(cpu)]
  const cells = [
    label,
    String(Math.round(of(({ perSecond }) => perSecond))),
    median(rates).toFixed(3),
    spreadOf(rates),
    of(({ workerCpuMs }) => workerCpuMs).toFixed(4),
    of(({ databaseCpuMs = Number.NaN }) => databaseCpuMs).toFixed(4),
    of(cpu).toFixed(4),
    median(cpus).toFixed(3),
    spreadOf(cpus),
    of(({ statementsPerDelivery }) => statementsPerDelivery).toFixed(4)
  ]
  return `| ${cells.join(" | ")} |`
}

exitOnSignals()
const started: Array<Variant> = []
try {
  for (const argument of variants) started.push(await start(argument))
  for (let round = 0; round < Number(rounds); round++) {
    for (const variant of inTurn(started, round)) {
      const drained = await variant.drain()
      variant.drained.push(drained)
      console.error(`${round + 1} ${variant.label}: ${drained.perSecond}/s, ${cpu(drained).toFixed(4)} ms`)
    }
  }
  console.log(`\`${command}\`\n`)
  console.log(
    "| | deliveries/s | ratio | spread | worker CPU each, ms | Postgres CPU each, ms | both | ratio | spread | statements each |"
  )
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
  for (const variant of started) console.log(row(variant, started[0]!))
} finally {
  for (const { stop } of checkouts.values()) await stop()
}
process.exit()
