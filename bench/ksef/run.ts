/**
 * Measures live mode against the KSeF simulator: one invoice after the other, batches of 1,000 and 10,000, and submissions of
 * test keys with live mode on and off. Server, database, simulator and load are processes of their own on one machine.
 *
 * `BENCH_ONLY=interactive,batch,ten-thousand,test-keys` runs some parts. Prints a report in Markdown, and exits with 1 when a
 * figure misses its goal: times are judged beside those of a client as small as it can be, which sends the same documents to the
 * same simulator from memory, and fetches one receipt for all of them; memory is judged beside that of the same worker before
 * the batch. Counts of statements are judged alone.
 */
import { cpus, loadavg } from "node:os"
import { type Database, startDatabase } from "../engine/database.ts"
import { type Comparison, judge } from "../ratios.ts"
import { type Batch, measureBatch } from "./batch.ts"
import { measureInteractive } from "./interactive.ts"
import { measureTestKeys } from "./testKeys.ts"

const parts = (process.env["BENCH_ONLY"] ?? "interactive,batch,ten-thousand,test-keys").split(",")
const lines: Array<string> = []
const comparisons: Array<Comparison> = []

/** Judges a count of statements, which is the same on every machine. */
const perInvoice = (what: string, statements: number, atMost: number): void =>
  void comparisons.push({
    figure: `${what}, statements of the lane`,
    measured: [statements],
    reference: "invoice",
    beside: [1],
    atMost
  })
const fact = (what: string, measured: number, digits: number): void => {
  lines.push(`| ${what} | ${measured.toFixed(digits)} |`)
}

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

const plain = "a plain client, documents in memory"

// On a machine at rest, the plain client sends 5,000 documents a second, and this is a tenth of its speed.
const timesOfPlain = 10

// 256 MiB beside the 135 MiB of a worker that has started.
const timesOfRest = 1.9

const addBatch = ({ count, floorSeconds, memory, memoryBefore, seconds, statements }: Batch): void => {
  const name = `${count.toLocaleString("en")} waiting`
  comparisons.push(
    {
      figure: `${name}, to the last UPO, s`,
      measured: [seconds],
      reference: plain,
      beside: [floorSeconds],
      atMost: timesOfPlain
    },
    {
      figure: `${name}, peak memory of the worker, MiB`,
      measured: [memory],
      reference: "the worker before the batch",
      beside: [memoryBefore],
      atMost: timesOfRest
    }
  )
  perInvoice(name, statements.lanes, 0.3)
  fact(`${name}, documents per second`, count / seconds, 0)
  fact(`${name}, all statements of the worker per invoice`, statements.all, 3)
}

await part("interactive", async (database) => {
  const { floor, most, p50, p95, statements, times } = await measureInteractive(database)
  const reference = "a plain client that asks after 100 ms"
  comparisons.push(
    { figure: "one by one, submission to accepted, ms", measured: times, reference, beside: floor.times, atMost: 2.5 },
    { figure: "one by one, p95, ms", measured: [p95], reference, beside: [floor.p95], atMost: 5 }
  )
  perInvoice("one by one, with its receipt", statements.lanes, 8)
  fact("one by one, submission to accepted, p50, ms", p50, 0)
  fact("one by one, submission to accepted, most, ms", most, 0)
  fact("one by one, all statements of the worker per invoice", statements.all, 2)
})
await part("batch", async (database) => addBatch(await measureBatch(database, 1000)))
await part("ten-thousand", async (database) => addBatch(await measureBatch(database, 10_000)))
await part("test-keys", async (database) => {
  const { off, on } = await measureTestKeys(database)
  comparisons.push({
    figure: "submissions with a test key/s, live mode on",
    measured: on,
    reference: "live mode off",
    beside: off,
    // Within the noise of a run.
    atLeast: 0.95
  })
})

const { exitCode, report } = judge(comparisons)
console.log(`# Live mode

Node ${process.versions.node}, Postgres 18 with fsync, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, shared by server, database, simulator and load.

| | measured |
| --- | ---: |
${lines.join("\n")}

${report}`)
process.exit(exitCode)
