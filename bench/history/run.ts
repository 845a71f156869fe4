/**
 * Measures each statement of API and engine under the same load in a database that holds a page or two of each list, in one with
 * a million deliveries of history beside them after ANALYZE, and in one with the same history after VACUUM ANALYZE.
 *
 * Prints a report in Markdown: the 50th and the 99th percentile of each statement from the log of Postgres, the blocks that
 * it reads, and the ratios to the database without history. The databases take turns, each with a server of its own, on one
 * Postgres without autovacuum. A second database without history takes turns too: its ratio to the first is the noise.
 * Exits with 1 when a statement has a 99th percentile beyond 1.2 times that without history and beyond the noise.
 *
 * `BENCH_HISTORY`, `BENCH_ROUNDS` and `BENCH_SECONDS` change how much. `BENCH_PLANS` names a file for the text and
 * the plans of each statement.
 */
import { writeFileSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { Pool } from "pg"
import { startDatabase } from "../engine/database.ts"
import { sleep, startReceiver } from "../engine/processes.ts"
import { inTurn, exitOnSignals } from "../variants.ts"
import { fill } from "./fill.ts"
import { type Server, signUp, startLoaded } from "./load.ts"
import { databases, type Name, reportOf, type Round } from "./report.ts"
import { logging, plansOf, queriesOf, timesOf } from "./statements.ts"

const history = Number(process.env["BENCH_HISTORY"] ?? 1_000_000)
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 20)
const plansFile = process.env["BENCH_PLANS"]
const hourMs = 3_600_000
// 6,000 of each endpoint, 60 of which failed: a full page and more of each list, those of failures too.
const recent = 60_000

exitOnSignals()
let log = ""
const postgres = await startDatabase([...logging, "shared_buffers=8GB"], (text) => {
  log += text
})
const receiver = await startReceiver()
const urlOf = (name: string): string => {
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  return url.href
}
const asBench = (name: string): string => {
  const url = new URL(urlOf(name))
  url.username = url.password = "bench"
  return url.href
}
const maintain = async (name: string, command: "ANALYZE" | "VACUUM ANALYZE"): Promise<void> => {
  const pool = new Pool({ connectionString: asBench(name), max: 1 })
  await pool.query(command)
  await pool.end()
}

// Loads the pages of a database into the buffers. Without it, those of a copy are read from the files during the load.
const prewarm = async (name: string): Promise<void> => {
  const pool = new Pool({ connectionString: asBench(name), max: 1 })
  await pool.query("CREATE EXTENSION pg_prewarm")
  await pool.query("SELECT sum(pg_prewarm(oid)) FROM pg_class WHERE relkind IN ('r', 'i', 't')")
  await pool.end()
}

const blocks = async (name: string): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await postgres.pool.query<{ query: string; blocks: number }>(
    `SELECT queryid::text AS query, sum(shared_blks_hit + shared_blks_read)::float8 / sum(calls) AS blocks
     FROM pg_stat_statements JOIN pg_database ON oid = dbid
     WHERE datname = $1 AND userid <> 'bench'::regrole AND calls > 0 GROUP BY queryid`,
    [name]
  )
  return new Map(rows.map((row) => [row.query, row.blocks]))
}

const measure = async (name: Name, server: Server): Promise<Round> => {
  await postgres.pool.query("SELECT pg_stat_statements_reset()")
  log = ""
  const from = Date.now()
  await server.run(seconds)
  const until = Date.now()
  // The log comes through a pipe.
  await sleep(200)
  return { times: timesOf(log, name, from, until), queries: queriesOf(log), blocks: await blocks(name) }
}

const measured: Record<Name, Array<Round>> = { empty: [], control: [], unvacuumed: [], vacuumed: [] }
const servers = new Map<Name, Server>()
const plans = new Map<Name, ReadonlyMap<string, string>>()
const before = loadavg()[0]!
try {
  const now = Date.now()
  await postgres.pool.query("CREATE DATABASE empty")
  await signUp(urlOf("empty"), receiver)
  await fill(asBench("empty"), recent, { from: now - hourMs, until: now })
  for (const name of ["control", "unvacuumed"]) await postgres.pool.query(`CREATE DATABASE ${name} TEMPLATE empty`)
  await fill(asBench("unvacuumed"), history, { from: now - 7 * 24 * hourMs, until: now - hourMs })
  await postgres.pool.query("CREATE DATABASE vacuumed TEMPLATE unvacuumed STRATEGY FILE_COPY")
  await maintain("unvacuumed", "ANALYZE")
  for (const name of ["empty", "control", "vacuumed"]) await maintain(name, "VACUUM ANALYZE")
  for (const name of databases) await prewarm(name)
  await postgres.pool.query("CHECKPOINT")
  console.error(`${new Date().toISOString()} filled`)

  for (const name of databases) servers.set(name, await startLoaded(urlOf(name), asBench(name)))
  // Compiles, reads the pages that are used, and has Postgres keep its plans.
  for (const server of servers.values()) await server.run(5)
  for (let round = 0; round < rounds; round++) {
    for (const name of inTurn(databases, round)) {
      const one = await measure(name, servers.get(name)!)
      measured[name].push(one)
      const executions = [...one.times.values()].reduce((sum, { length }) => sum + length, 0)
      console.error(`${new Date().toISOString()} ${round + 1} ${name}: ${executions} statements`)
    }
  }

  if (plansFile !== undefined) {
    await postgres.pool.query("ALTER SYSTEM SET auto_explain.log_min_duration = 0")
    await postgres.pool.query("SELECT pg_reload_conf()")
    for (const [name, server] of servers) {
      log = ""
      await server.run(5)
      await sleep(200)
      plans.set(name, plansOf(log, name))
    }
  }
} finally {
  for (const server of servers.values()) await server.stop()
  receiver.stop()
  await postgres.stop()
}

const { exitCode, report, statements } = reportOf(measured)
console.log(`# History

Node ${process.versions.node}, Postgres 18 with fsync, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, shared by servers, database, receiver and load; load average ${before.toFixed(1)} before and ${loadavg()[0]!.toFixed(1)} after.
${history.toLocaleString("en")} deliveries, events and invoices of ten organizations in seven days, beside ${recent.toLocaleString("en")} of the last hour in every database; ${rounds} rounds of ${seconds} s in each database.

${report}`)
if (plansFile !== undefined) {
  const plan = (name: Name, query: string) => `-- ${name}\n${plans.get(name)?.get(query) ?? "not executed"}\n`
  writeFileSync(
    plansFile,
    statements
      .map(
        ({ label, query }) =>
          `# ${label}\n${plan("empty", query)}${plan("unvacuumed", query)}${plan("vacuumed", query)}`
      )
      .join("\n")
  )
}
process.exit(exitCode)
