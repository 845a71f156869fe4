/**
 * Measures each statement of API and engine under the same load in an empty database, in one with a million deliveries of
 * history, and in one with the same history after VACUUM ANALYZE.
 *
 * Prints a report in Markdown: the mean and the 99th percentile of each statement from the log of Postgres, and their ratios to
 * the empty database. Exits with 1 when a statement has a 99th percentile beyond 1.2 times that in the empty database. The
 * three take turns on one server without autovacuum. `BENCH_HISTORY`, `BENCH_ROUNDS` and `BENCH_SECONDS` change how much.
 */
import { cpus, loadavg } from "node:os"
import { Pool } from "pg"
import { startDatabase } from "../engine/database.ts"
import { startReceiver } from "../engine/processes.ts"
import { type Comparison, judge, median } from "../ratios.ts"
import { exitOnSignals, inTurn } from "../variants.ts"
import { fill } from "./fill.ts"
import { signUp, startLoaded } from "./load.ts"
import { logging, type Times, timesOf } from "./statements.ts"

const history = Number(process.env["BENCH_HISTORY"] ?? 1_000_000)
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 20)
// A percentile of fewer executions says nothing.
const leastExecutions = 50
const databases = ["empty", "unvacuumed", "vacuumed"] as const

exitOnSignals()
let log = ""
const server = await startDatabase(logging, (text) => {
  log += text
})
const receiver = await startReceiver()
const urlOf = (name: string): string => {
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}
const asBench = (name: string): string => {
  const url = new URL(urlOf(name))
  url.username = url.password = "bench"
  return url.href
}

const measured: Record<(typeof databases)[number], Array<Times>> = { empty: [], unvacuumed: [], vacuumed: [] }
const before = loadavg()[0]!
try {
  await server.pool.query("CREATE DATABASE empty")
  await signUp(urlOf("empty"), receiver)
  for (const name of ["unvacuumed", "vacuumed"]) {
    await server.pool.query(`CREATE DATABASE ${name} TEMPLATE empty`)
    await fill(asBench(name), history)
  }
  for (const name of ["empty", "vacuumed"]) {
    const pool = new Pool({ connectionString: asBench(name), max: 1 })
    await pool.query("VACUUM ANALYZE")
    await pool.end()
  }
  await server.pool.query("CHECKPOINT")
  for (let round = 0; round < rounds; round++) {
    for (const name of inTurn(databases, round)) {
      const loaded = await startLoaded(urlOf(name))
      // Compiles, reads the pages that are used, and has Postgres keep its plans.
      await loaded.run(3)
      log = ""
      const from = Date.now()
      await loaded.run(seconds)
      const until = Date.now()
      await loaded.process.stop()
      measured[name].push(timesOf(log, name, from, until))
      console.error(
        `${round + 1} ${name}: ${[...measured[name].at(-1)!.values()].reduce((sum, { length }) => sum + length, 0)} statements`
      )
    }
  }
} finally {
  receiver.stop()
  await server.stop()
}

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length
const p99 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN

const common = [...measured.empty[0]!.keys()].filter((statement) =>
  databases.every((name) => measured[name].every((times) => (times.get(statement)?.length ?? 0) >= leastExecutions))
)
const of = (name: (typeof databases)[number], statement: string, figure: typeof mean) =>
  measured[name].map((times) => figure(times.get(statement)!))
const labelOf = (statement: string, index: number): string =>
  `${index + 1}. \`${statement.slice(0, 60).replaceAll("|", "\\|")}\``
const comparisons = common.flatMap((statement, index): ReadonlyArray<Comparison> =>
  (["unvacuumed", "vacuumed"] as const).map((name) => ({
    figure: `${labelOf(statement, index)}, p99, ms, ${name === "unvacuumed" ? "before vacuum" : "after vacuum"}`,
    measured: of(name, statement, p99),
    reference: "empty",
    beside: of("empty", statement, p99),
    atMost: 1.2
  }))
)
const row = (statement: string, index: number): string => {
  const means = databases.map((name) => median(of(name, statement, mean)))
  const ratio = (name: "unvacuumed" | "vacuumed") => {
    const empty = of("empty", statement, mean)
    return median(of(name, statement, mean).map((one, round) => one / empty[round]!)).toFixed(2)
  }
  const executions = median(measured.empty.map((times) => times.get(statement)!.length))
  return `| ${[labelOf(statement, index), executions, ...means.map((one) => one.toFixed(3)), ratio("unvacuumed"), ratio("vacuumed")].join(" | ")} |`
}
const { exitCode, report } = judge(comparisons)
console.log(`# History

Node ${process.versions.node}, Postgres 18 with fsync, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, shared by server, database, receiver and load; load average ${before.toFixed(1)} before and ${loadavg()[0]!.toFixed(1)} after.
${history.toLocaleString("en")} deliveries, events and invoices of ten organizations in seven days; ${rounds} rounds of ${seconds} s in each database.

| statement | executions a round | empty, mean, ms | before vacuum | after vacuum | ratio | ratio |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${common.map(row).join("\n")}

${report}`)
if (process.env["BENCH_STATEMENTS"] === "1")
  for (const [index, statement] of common.entries()) console.log(`\n${index + 1}. ${statement}`)
process.exit(exitCode)
