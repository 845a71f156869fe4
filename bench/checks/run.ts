/**
 * Measures document checks: `POST /v1/invoices` with them beside without, in turns; how long a document of 1 MB occupies
 * the event loop; and memory over many documents.
 *
 * Prints a report in Markdown. Ends with 1 when a target is missed: 1,200 submissions per second and half of those without
 * checks, 1 ms more at the median of one connection, at most 5 ms of the event loop, and no growth over 100,000 documents
 * beyond 10 %. The CPU time of the server per submission depends less on other load than the rates do.
 */
import { DocumentChecker } from "@govoice/ksef/checks"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Settings, read } from "../../apps/server/src/settings/Settings.ts"
import * as DocumentChecks from "../../apps/server/src/invoices/checks/DocumentChecks.ts"
import { startPostgres } from "../../test/support/postgres.ts"
import { makeKey, type Running, startGovoice } from "../api/govoice.ts"
import { load, type Measured, type Target } from "../api/load.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const roundMs = Number(process.env["BENCH_ROUND_MS"] ?? 4000)
const documentCount = Number(process.env["BENCH_DOCUMENTS"] ?? 100_000)

const sample = readFileSync(join(import.meta.dirname, "../../examples/invoices/fa3-vat23.xml"), "utf8")
const options: DocumentChecker.CheckOptions = { today: "2026-11-22", acceptsFa2: false }

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

const submissions = ({ pid, url }: Running, key: string, isChecked: boolean, connections: number): Target => {
  const body = JSON.stringify({ invoice_xml: sample })
  return {
    url,
    pid,
    connections,
    milliseconds: roundMs,
    expect: 201,
    next: () => ({
      method: "POST",
      path: "/v1/invoices",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${key}`,
        "idempotency-key": randomUUID(),
        ...(isChecked ? { "gov-sandbox-checks": "schema" } : {})
      },
      body
    })
  }
}

const inTurns = async (server: Running, key: string, connections: number) => {
  const measured: Record<"with" | "without", Array<Measured>> = { with: [], without: [] }
  for (const isChecked of [true, false]) {
    await load({ ...submissions(server, key, isChecked, connections), milliseconds: 1000 })
  }
  for (let round = 0; round < rounds; round++) {
    measured.without.push(await load(submissions(server, key, false, connections)))
    measured.with.push(await load(submissions(server, key, true, connections)))
  }
  const of = (name: "with" | "without", figure: keyof Measured) => median(measured[name].map((one) => one[figure]))
  return { of }
}

const row = /<FaWiersz>[^]*<\/FaWiersz>/.exec(sample)![0]
const large = sample.replace(row, row.repeat(Math.floor((1_000_000 - sample.length) / row.length)))

// The longest delay of the event loop while 20 documents of 1 MB are checked, above the longest one at rest: the median of
// five turns.
interface Delay {
  readonly p99: number
  readonly most: number
}

const eventLoop = () =>
  Effect.gen(function* () {
    const checks = yield* DocumentChecks.DocumentChecks
    const check = Effect.ignore(checks.check("org_01m7q5cqg0e6786ptds43fm4k3", "live", large))
    yield* check
    const delay = monitorEventLoopDelay({ resolution: 1 })
    const longest = Effect.fnUntraced(function* (work: Effect.Effect<void>) {
      delay.reset()
      delay.enable()
      yield* work
      delay.disable()
      // The timer of the histogram itself fires every millisecond.
      return { p99: delay.percentile(99) / 1e6, most: delay.max / 1e6 }
    })
    // In turns, because a shared machine delays the event loop at rest, too.
    const turns: Array<{ readonly atRest: Delay; readonly busy: Delay }> = []
    for (let turn = 0; turn < 5; turn++) {
      const atRest = yield* longest(Effect.sleep(1000))
      turns.push({ atRest, busy: yield* longest(Effect.repeat(check, { times: 20 })) })
    }
    return {
      p99: median(turns.map(({ atRest, busy }) => busy.p99 - atRest.p99)),
      most: median(turns.map(({ atRest, busy }) => busy.most - atRest.most))
    }
  }).pipe(
    Effect.provide(
      DocumentChecks.layer.pipe(Layer.provide(Layer.succeed(Settings)(read({ GOVOICE_DATA_DIR: "memory" }))))
    ),
    Effect.runPromise
  )

const memory = async () => {
  const checker = await DocumentChecker.load()
  const resident = () => {
    globalThis.gc?.()
    return process.memoryUsage().rss / 1_048_576
  }
  const broken = sample.replace("<P_14_1>23.00", "<P_14_1>23,00")
  const check = (count: number) => {
    for (let document = 0; document < count; document++) checker.check(document % 10 === 0 ? broken : sample, options)
  }
  check(documentCount / 10)
  const before = resident()
  const startedAt = performance.now()
  check(documentCount)
  const perDocument = (performance.now() - startedAt) / documentCount
  return { before, after: resident(), perDocument }
}

const postgres = await startPostgres()
const server = await startGovoice(postgres.url)
try {
  const key = await makeKey(server.url)
  const many = await inTurns(server, key, 50)
  const one = await inTurns(server, key, 1)
  server.stop()
  const loop = await eventLoop()
  const grown = await memory()

  const ratio = many.of("with", "perSecond") / many.of("without", "perSecond")
  const added = one.of("with", "p50") - one.of("without", "p50")
  const blocked = loop.p99
  const blockedAtMost = loop.most
  const figures = [
    ["submissions/s with checks, 50 connections", many.of("with", "perSecond").toFixed(0), "≥ 1,200"],
    ["submissions/s without", many.of("without", "perSecond").toFixed(0), ""],
    ["ratio", ratio.toFixed(2), "≥ 0.50"],
    ["CPU time of the server with checks, µs", many.of("with", "cpuMicros").toFixed(0), ""],
    ["CPU time of the server without, µs", many.of("without", "cpuMicros").toFixed(0), ""],
    ["p99 with checks, 50 connections, ms", many.of("with", "p99").toFixed(0), ""],
    ["p99 without, ms", many.of("without", "p99").toFixed(0), ""],
    ["median added for 1.4 kB, one connection, ms", added.toFixed(2), "< 1"],
    ["event loop held by 1 MB, p99 above rest, ms", blocked.toFixed(1), ""],
    ["event loop held by 1 MB, at most above rest, ms", blockedAtMost.toFixed(1), "≤ 5"],
    ["memory before and after, MiB", `${grown.before.toFixed(0)} and ${grown.after.toFixed(0)}`, "≤ 1.1 ×"],
    ["one check in a loop, ms", grown.perDocument.toFixed(2), ""]
  ]
  console.log("| figure | measured | target |\n| --- | --- | --- |")
  for (const cells of figures) console.log(`| ${cells.join(" | ")} |`)
  const isFast = many.of("with", "perSecond") >= 1200 && ratio >= 0.5 && added < 1
  const isReached = isFast && blockedAtMost <= 5 && grown.after <= grown.before * 1.1
  process.exitCode = isReached ? 0 : 1
} finally {
  server.stop()
  await postgres.stop()
}
