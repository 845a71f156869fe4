/**
 * Measures document checks: `POST /v1/invoices` with them beside without, in turns; how long a document of 1 MB occupies
 * the event loop; and memory over many documents.
 *
 * Prints a report in Markdown. Ends with 1 when a ratio of the same run misses its goal: half the submissions per second of
 * those without checks, 1.5 times their median on one connection, an event loop that is held for no longer than `JSON.parse`
 * of the request holds it, and no growth over 100,000 documents beyond 10 %. The CPU time of the server per submission
 * depends less on other load than the rates do.
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
import { judge, median } from "../ratios.ts"
import { inTurn } from "../variants.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const roundMs = Number(process.env["BENCH_ROUND_MS"] ?? 4000)
const documentCount = Number(process.env["BENCH_DOCUMENTS"] ?? 100_000)

const sample = readFileSync(join(import.meta.dirname, "../../examples/invoices/fa3-vat23.xml"), "utf8")
const options: DocumentChecker.CheckOptions = { today: "2026-11-22", environment: "demo" }

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
    for (const name of inTurn(["without", "with"] as const, round)) {
      measured[name].push(await load(submissions(server, key, name === "with", connections)))
    }
  }
  const all = (name: "with" | "without", figure: keyof Measured) => measured[name].map((one) => one[figure])
  return { all, of: (name: "with" | "without", figure: keyof Measured) => median(all(name, figure)) }
}

const row = /<FaWiersz>[^]*<\/FaWiersz>/.exec(sample)![0]
const large = sample.replace(row, row.repeat(Math.floor((1_000_000 - sample.length) / row.length)))

// The longest delay of the event loop while 20 documents of 1 MB are checked, above the longest one at rest, in five turns;
// and beside it what reading the JSON of the request takes, which holds the event loop of any server.
const request = JSON.stringify({ invoice_xml: large })
const longestParse = (): number =>
  Math.max(
    ...Array.from({ length: 20 }, () => {
      const begun = performance.now()
      JSON.parse(request)
      return performance.now() - begun
    })
  )

interface Delay {
  readonly p99: number
  readonly most: number
}

const eventLoop = () =>
  Effect.gen(function* () {
    const checks = yield* DocumentChecks.DocumentChecks
    const owner = {
      accountId: "acct_01m7q5cqg0e6786ptds43fm4k3",
      organizationId: "org_01m7q5cqg0e6786ptds43fm4k3"
    } as const
    const check = Effect.ignore(checks.check(owner, "live", large))
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
    const turns: Array<{ readonly atRest: Delay; readonly busy: Delay; readonly parsing: number }> = []
    for (let turn = 0; turn < 5; turn++) {
      const atRest = yield* longest(Effect.sleep(1000))
      turns.push({ atRest, busy: yield* longest(Effect.repeat(check, { times: 20 })), parsing: longestParse() })
    }
    return {
      p99: median(turns.map(({ atRest, busy }) => busy.p99 - atRest.p99)),
      most: turns.map(({ atRest, busy }) => Math.max(0, busy.most - atRest.most)),
      parsing: turns.map(({ parsing }) => parsing)
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

  const figures = [
    ["CPU time of the server with checks, µs", many.of("with", "cpuMicros").toFixed(0)],
    ["CPU time of the server without, µs", many.of("without", "cpuMicros").toFixed(0)],
    ["p99 with checks, 50 connections, ms", many.of("with", "p99").toFixed(0)],
    ["p99 without, ms", many.of("without", "p99").toFixed(0)],
    ["event loop held by 1 MB, p99 above rest, ms", loop.p99.toFixed(1)],
    ["one check in a loop, ms", grown.perDocument.toFixed(2)]
  ]
  console.log("| figure | measured |\n| --- | ---: |")
  for (const cells of figures) console.log(`| ${cells.join(" | ")} |`)
  const { exitCode, report } = judge([
    {
      figure: "submissions/s with checks, 50 connections",
      measured: many.all("with", "perSecond"),
      reference: "without checks",
      beside: many.all("without", "perSecond"),
      atLeast: 0.5
    },
    {
      figure: "median with checks, one connection, ms",
      measured: one.all("with", "p50"),
      reference: "without checks",
      beside: one.all("without", "p50"),
      atMost: 1.5
    },
    {
      figure: "event loop held by 1 MB, at most above rest, ms",
      measured: loop.most,
      reference: "`JSON.parse` of 1 MB",
      beside: loop.parsing,
      atMost: 1
    },
    {
      figure: "memory afterwards, MiB",
      measured: [grown.after],
      reference: "before",
      beside: [grown.before],
      atMost: 1.1
    }
  ])
  console.log(`\n${report}`)
  process.exitCode = exitCode
} finally {
  server.stop()
  await postgres.stop()
}
