/**
 * Measures durable submissions and lookups of the API, beside a plain Fastify and pg with the same inserts in the same run.
 *
 * Prints a report in Markdown. Exits with 1 when a ratio to the plain server misses its goal: 1.1 of its submissions a second
 * with at most twice its 99th percentile, and 0.75 of its lookups a second with at most 1.5 times its processor time; with 50
 * connections, and server, database and load on one machine.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { cpus } from "node:os"
import { join } from "node:path"
import { startPostgres } from "../../test/support/postgres.ts"
import { judge, median } from "../ratios.ts"
import { inTurn } from "../variants.ts"
import { makeKey, type Running, startGovoice } from "./govoice.ts"
import { load, type Measured, type Target } from "./load.ts"
import { startCounter } from "../../test/support/statementCounter.ts"
import { connections, requestsOf, sample } from "./requests.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const roundMs = Number(process.env["BENCH_ROUND_MS"] ?? 5000)

const startPlain = async (databaseUrl: string): Promise<Running> => {
  const child = fork(join(import.meta.dirname, "plain.ts"), { env: { ...process.env, DATABASE_URL: databaseUrl } })
  const [url] = (await once(child, "message")) as [string]
  return { url, pid: child.pid!, stop: () => void child.kill() }
}

const count = async (databaseUrl: string) => {
  const counter = await startCounter(databaseUrl)
  const server = await startGovoice(counter.url)
  const requests = requestsOf(server, await makeKey(server.url), roundMs)
  const perRequest = async (target: Target, connections: number) => {
    let sent = 0
    await load({ ...target, connections, milliseconds: 200 })
    const before = { ...counter.counts }
    const next = () => {
      sent++
      return target.next()
    }
    await load({ ...target, next, connections, milliseconds: 1000 })
    return {
      statements: (counter.counts.statements - before.statements) / sent,
      roundTrips: (counter.counts.roundTrips - before.roundTrips) / sent
    }
  }
  const both = async (target: Target) => ({
    alone: await perRequest(target, 1),
    together: await perRequest(target, connections)
  })
  const counted = { submit: await both(requests.submit), get: await both(requests.get) }
  server.stop()
  counter.close()
  return counted
}

const whole = (value: number): string => Math.round(value).toLocaleString("en")
const row = (name: string, measured: ReadonlyArray<Measured>, extra: ReadonlyArray<string>): string => {
  const of = (name: keyof Measured) => median(measured.map((one) => one[name]))
  const numbers = [
    whole(of("perSecond")),
    of("p50").toFixed(1),
    of("p99").toFixed(1),
    of("most").toFixed(0),
    whole(of("cpuMicros"))
  ]
  return `| ${[name, ...numbers, ...extra].join(" | ")} |`
}

// Commits are durable, as in a deployment.
const postgres = await startPostgres({ flags: ["--fsync=on"] })
try {
  const counted = await count(postgres.url)
  const [ours, plain] = [await startGovoice(postgres.url), await startPlain(postgres.url)]
  const servers = {
    ours: requestsOf(ours, await makeKey(ours.url), roundMs),
    plain: requestsOf(plain, "", roundMs)
  }
  for (const requests of Object.values(servers)) {
    await load({ ...requests.submit, milliseconds: 2000 })
    await load({ ...requests.get, milliseconds: 1000 })
  }
  const measured = {
    ours: { submit: [] as Array<Measured>, get: [] as Array<Measured> },
    plain: { submit: [] as Array<Measured>, get: [] as Array<Measured> }
  }
  for (let round = 0; round < rounds; round++) {
    for (const kind of ["submit", "get"] as const) {
      for (const server of inTurn(["ours", "plain"] as const, round)) {
        measured[server][kind].push(await load(servers[server][kind]))
      }
    }
  }
  ours.stop()
  plain.stop()

  const trips = (kind: "submit" | "get") =>
    (["statements", "roundTrips"] as const).map(
      (name) => `${counted[kind].alone[name].toFixed(2)} → ${counted[kind].together[name].toFixed(2)}`
    )
  const beside = (kind: "submit" | "get", name: keyof Measured) => ({
    measured: measured.ours[kind].map((one) => one[name]),
    reference: "Fastify and pg",
    beside: measured.plain[kind].map((one) => one[name])
  })
  const { exitCode, report } = judge([
    { figure: "`POST /v1/invoices`, requests/s", ...beside("submit", "perSecond"), atLeast: 1.1 },
    { figure: "`POST /v1/invoices`, p99, ms", ...beside("submit", "p99"), atMost: 2 },
    { figure: "`GET /v1/invoices/{id}`, requests/s", ...beside("get", "perSecond"), atLeast: 0.75 },
    { figure: "`GET /v1/invoices/{id}`, CPU, µs", ...beside("get", "cpuMicros"), atMost: 1.5 }
  ])

  console.log(`# The API

Node ${process.versions.node}, Postgres 18 with fsync, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, on which server, database and load run
together. ${connections} connections, an invoice of ${sample.length} characters; ${rounds} rounds of ${roundMs} ms after a warm-up, medians.

| request | requests/s | p50 ms | p99 ms | most ms | CPU µs | statements | round trips |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${row("`POST /v1/invoices`", measured.ours.submit, trips("submit"))}
${row("the same three inserts, Fastify and pg", measured.plain.submit, ["5.00", "5.00"])}
${row("`GET /v1/invoices/{id}`", measured.ours.get, trips("get"))}
${row("the same lookup, Fastify and pg", measured.plain.get, ["1.00", "1.00"])}

## Scope

The numbers are for one process that shares the processors with its database and its load, and for the whole contract: API key, rate
limit, strict JSON, XML document, idempotency, invoice, event and deliveries in one statement and one commit, which concurrent
submissions share. The plain server does the inserts only. Statements and round trips are per request, counted between server and
database, at one connection and at ${connections}; they include the NOTIFY of a batch that wakes workers. No worker runs; the benchmark
of the engine measures workers. The network is loopback.

${report}`)
  process.exitCode = exitCode
} finally {
  await postgres.remove()
}
process.exit()
