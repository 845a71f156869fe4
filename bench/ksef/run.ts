/**
 * Measures live mode against the KSeF simulator: one invoice after the other, batches of 1,000 and 10,000, and submissions of
 * test keys with live mode on and off. Server, database, simulator and load are processes of their own on one machine.
 *
 * `BENCH_ONLY=interactive,batch,ten-thousand,test-keys` runs some parts. Prints a report in Markdown, and exits with 1 when a
 * target is missed.
 */
import { cpus, loadavg } from "node:os"
import { type Database, startDatabase } from "../engine/database.ts"
import { type Batch, measureBatch } from "./batch.ts"
import { measureInteractive } from "./interactive.ts"
import { measureTestKeys } from "./testKeys.ts"

const targets = {
  p50: 250,
  p95: 600,
  perSecond: 300,
  interactiveStatements: 8,
  batchStatements: 0.3,
  thousandSeconds: 60,
  tenThousandSeconds: 180,
  tenThousandMemory: 256,
  // Within the noise of a run.
  testKeys: 0.95
}

const parts = (process.env["BENCH_ONLY"] ?? "interactive,batch,ten-thousand,test-keys").split(",")
const lines: Array<string> = []
const missed: Array<string> = []

const row = (what: string, measured: number, digits: number, goal: "<" | "≥", target: number): void => {
  const isMet = goal === "<" ? measured < target : measured >= target
  lines.push(`| ${what} | ${measured.toFixed(digits)} | ${goal} ${target} |`)
  if (!isMet) missed.push(`${what}: ${measured.toFixed(digits)}, expected ${goal} ${target}`)
}
const fact = (what: string, measured: number, digits: number): void => {
  lines.push(`| ${what} | ${measured.toFixed(digits)} | |`)
}
const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

const part = async (name: string, measure: (database: Database) => Promise<void>): Promise<void> => {
  if (!parts.includes(name)) return
  const database = await startDatabase()
  const before = loadavg()[0]!
  try {
    await measure(database)
    fact(`load average before and after \`${name}\``, before, 1)
    fact("", loadavg()[0]!, 1)
  } finally {
    await database.stop()
  }
}

const batchRows = ({ count, memory, seconds, statements }: Batch): void => {
  const name = count.toLocaleString("en")
  const isThousand = count === 1000
  row(
    `${name} waiting, to the last UPO, s`,
    seconds,
    1,
    "<",
    isThousand ? targets.thousandSeconds : targets.tenThousandSeconds
  )
  if (isThousand) row(`${name} waiting, documents per second`, count / seconds, 0, "≥", targets.perSecond)
  else fact(`${name} waiting, documents per second`, count / seconds, 0)
  if (isThousand) fact(`${name} waiting, peak memory of the worker, MiB`, memory, 0)
  else row(`${name} waiting, peak memory of the worker, MiB`, memory, 0, "<", targets.tenThousandMemory)
  row(`${name} waiting, statements of the lane per invoice`, statements.lanes, 3, "<", targets.batchStatements)
  fact(`${name} waiting, all statements of the worker per invoice`, statements.all, 3)
}

await part("interactive", async (database) => {
  const { most, p50, p95, statements } = await measureInteractive(database)
  row("one by one, submission to accepted, p50, ms", p50, 0, "<", targets.p50)
  row("one by one, submission to accepted, p95, ms", p95, 0, "<", targets.p95)
  fact("one by one, submission to accepted, most, ms", most, 0)
  row(
    "one by one, statements of the lane per invoice, with its receipt",
    statements.lanes,
    2,
    "<",
    targets.interactiveStatements
  )
  fact("one by one, all statements of the worker per invoice", statements.all, 2)
})
await part("batch", async (database) => batchRows(await measureBatch(database, 1000)))
await part("ten-thousand", async (database) => batchRows(await measureBatch(database, 10_000)))
await part("test-keys", async (database) => {
  const { off, on } = await measureTestKeys(database)
  fact("submissions with a test key per second, live mode off, median", median(off), 0)
  fact("submissions with a test key per second, live mode on, median", median(on), 0)
  row(
    "on against off, median of the ratios of the rounds",
    median(on.map((rate, index) => rate / off[index]!)),
    2,
    "≥",
    targets.testKeys
  )
})

console.log(`# Live mode

Node ${process.versions.node}, Postgres 18 with fsync, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, shared by server, database, simulator and load.

| | measured | target |
| --- | ---: | ---: |
${lines.join("\n")}
${missed.length === 0 ? "\nTargets met." : `\nTargets missed:\n\n${missed.map((line) => `- ${line}`).join("\n")}`}`)
process.exit(missed.length === 0 ? 0 : 1)
