/**
 * Compares checkouts or settings: loads the API of each variant in turn, and prints the medians and their ratios to the first.
 *
 *     node --conditions=source bench/api/compare.ts ROUNDS MILLISECONDS LABEL=DIRECTORY[,SETTING=VALUE...]...
 *
 * With and without the console:
 *
 *     node --conditions=source bench/api/compare.ts 10 5000 off=.,GOVOICE_CONSOLE=off on=.,GOVOICE_CONSOLE=on
 *
 * Each variant has a database of its own on one Postgres, and runs for the whole comparison. Ratios are taken within a round;
 * the processor time of the server per request is the figure to trust on a shared machine.
 */
import { join } from "node:path"
import { Client } from "pg"
import { startPostgres } from "../../test/support/postgres.ts"
import { median, ratiosOf, spreadOf } from "../ratios.ts"
import { buildConsoleOf, command, exitOnSignals, inTurn, parseVariant } from "../variants.ts"
import type * as GovoiceModule from "./govoice.ts"
import { load, type Measured } from "./load.ts"
import { requestsOf } from "./requests.ts"

const [rounds = "5", milliseconds = "5000", ...variants] = process.argv.slice(2)
const kinds = ["submit", "get"] as const

exitOnSignals()

// Commits are durable, as in a deployment.
const postgres = await startPostgres({ flags: ["--fsync=on"] })
const admin = new Client({ connectionString: postgres.url })
await admin.connect()

const start = async (argument: string, index: number) => {
  const { label, root, settings } = parseVariant(argument)
  await buildConsoleOf(root)
  const { makeKey, startGovoice } = (await import(join(root, "bench/api/govoice.ts"))) as typeof GovoiceModule
  await admin.query(`CREATE DATABASE variant_${index}`)
  const url = new URL(postgres.url)
  url.pathname = `/variant_${index}`
  const server = await startGovoice(url.href, settings)
  const requests = requestsOf(server, await makeKey(server.url), Number(milliseconds))
  await load({ ...requests.submit, milliseconds: 2000 })
  await load({ ...requests.get, milliseconds: 1000 })
  return { label, requests, server, measured: { submit: [] as Array<Measured>, get: [] as Array<Measured> } }
}

type Variant = Awaited<ReturnType<typeof start>>

const row = (variant: Variant, first: Variant, kind: (typeof kinds)[number]): string => {
  const { label, measured } = variant
  const of = (figure: keyof Measured) => median(measured[kind].map((one) => one[figure]))
  const ratio = (figure: keyof Measured) => {
    const figures = ({ measured }: Variant) => measured[kind].map((one) => one[figure])
    const ratios = ratiosOf(figures(variant), figures(first))
    return [median(ratios).toFixed(3), spreadOf(ratios)]
  }
  const request = kind === "submit" ? "`POST /v1/invoices`" : "`GET /v1/invoices/{id}`"
  const rate = [Math.round(of("perSecond")), ...ratio("perSecond")]
  return `| ${[request, label, ...rate, of("p50").toFixed(1), of("p99").toFixed(1), Math.round(of("cpuMicros")), ...ratio("cpuMicros")].join(" | ")} |`
}

const started: Array<Variant> = []
try {
  for (const [index, argument] of variants.entries()) started.push(await start(argument, index))
  for (let round = 0; round < Number(rounds); round++) {
    for (const kind of kinds) {
      for (const { label, measured, requests } of inTurn(started, round)) {
        const one = await load(requests[kind])
        measured[kind].push(one)
        console.error(`${round + 1} ${kind} ${label}: ${Math.round(one.perSecond)}/s, ${Math.round(one.cpuMicros)} µs`)
      }
    }
  }
  console.log(`\`${command}\`\n`)
  console.log("| request | | requests/s | ratio | spread | p50 ms | p99 ms | CPU µs | ratio | spread |")
  console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
  for (const kind of kinds) for (const variant of started) console.log(row(variant, started[0]!, kind))
} finally {
  for (const { server } of started) server.stop()
  await admin.end()
  await postgres.remove()
}
process.exit()
