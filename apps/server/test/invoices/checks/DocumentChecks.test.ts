import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Metric } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import * as DocumentChecks from "../../../src/invoices/checks/DocumentChecks.ts"
import * as EngineMetrics from "../../../src/observability/EngineMetrics.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const organization = "org_01m7q5cqg0e6786ptds43fm4k3"

const invoice = readFileSync(new URL("../../../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")

const checkOf = (organizationId: `org_${string}`, xml: string, mode: "live" | "test" = "live") =>
  Effect.flatMap(DocumentChecks.DocumentChecks, (checks) =>
    checks.check({ accountId: "acct_01m7q5cqg0e6786ptds43fm4k3", organizationId }, mode, xml)
  )

const check = (xml: string, mode: "live" | "test" = "live") => checkOf(organization, xml, mode)

const threadEntry = new URL("../../../src/invoices/checks/documentCheckThread.ts", import.meta.url)

// On a loaded machine, a thread may take longer to start than the check of a deployment may take.
const timeoutMs = 60_000

const layerOf = (environmentId?: string) =>
  DocumentChecks.layerWith({ entry: threadEntry, timeoutMs }).pipe(
    Layer.provide(TestSettings.layer({ ksef: { ...TestSettings.settings().ksef, environmentId } }))
  )

const withBrokenThread = (timeoutMs: number) =>
  DocumentChecks.layerWith({ entry: new URL("support/brokenThread.ts", import.meta.url), timeoutMs }).pipe(
    Layer.provide(TestSettings.layer())
  )

const withThreads = (threads: number) =>
  DocumentChecks.layerWith({ entry: threadEntry, timeoutMs, threads, maxWaitMs: 100_000 }).pipe(
    Layer.provide(TestSettings.layer())
  )

const counted = (result: "invalid" | "skipped" | "valid") =>
  Effect.map(Metric.value(EngineMetrics.documentChecks(result)), ({ count }) => count)

const onDay = <A, E, R>(day: string, effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(TestClock.setTime(Date.parse(`${day}T12:00:00Z`)), effect)

describe("DocumentChecks", () => {
  it.effect("accepts a valid document, and names the faults of an invalid one", () =>
    Effect.gen(function* () {
      const before = yield* Effect.all([counted("valid"), counted("invalid")])
      yield* check(invoice)
      const error = yield* Effect.flip(check(invoice.replace("<P_14_1>23.00", "<P_14_1>23,00")))
      assert.strictEqual(error._tag, "InvalidDocument")
      assert.include(error.message, "Faktura/Fa/P_14_1 (Kwota podatku od sumy wartości")
      assert.include(error.message, '"23,00" is not a decimal number; write 23.00.')
      assert.deepStrictEqual(yield* Effect.all([counted("valid"), counted("invalid")]), [
        before[0]! + 1,
        before[1]! + 1
      ])
    }).pipe((test) => onDay("2026-11-22", test), Effect.provide(layerOf()))
  )

  it.effect("returns the warnings about a document, and none for one that passes unchecked", () =>
    Effect.gen(function* () {
      const wrong = invoice.replace("<P_15>123.00", "<P_15>124.00")
      const warnings = yield* check(wrong).pipe(Effect.provide(layerOf()))
      assert.deepStrictEqual(
        warnings.map(({ code, path }) => [code, path]),
        [["total_differs", "Faktura/Fa/P_15"]]
      )
      assert.deepStrictEqual(yield* check(wrong).pipe(Effect.provide(withBrokenThread(timeoutMs))), [])
    }).pipe((test) => onDay("2026-11-20", test))
  )

  it.effect("compares the date of issue with the day in Poland", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-11-19T23:30:00Z"))
      yield* check(invoice)
      yield* TestClock.setTime(Date.parse("2026-11-19T22:30:00Z"))
      assert.include((yield* Effect.flip(check(invoice))).message, "later than today in Poland, 2026-11-19")
    }).pipe(Effect.provide(layerOf()))
  )

  it.effect("accepts FA (2) of a live key in the test environment only", () =>
    Effect.gen(function* () {
      const fa2 = '<Faktura xmlns="http://crd.gov.pl/wzor/2023/06/29/12648/"/>'
      yield* check(fa2).pipe(Effect.provide(layerOf("test")))
      assert.include((yield* Effect.flip(check(fa2, "test").pipe(Effect.provide(layerOf("test"))))).message, "FA (2)")
      assert.include((yield* Effect.flip(check(fa2).pipe(Effect.provide(layerOf("prod"))))).message, "FA (2)")
    })
  )

  it.effect("returns to each document its own verdict from two threads under load", () => {
    let started = 0
    const count = () => void started++
    return Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("worker", count)),
        () => Effect.sync(() => process.off("worker", count))
      )
      const documents = Array.from({ length: 600 }, (_, index) =>
        index % 3 === 0 ? invoice.replace("<P_2>FV/2026/11/0001", `<P_2>FV/${"1".repeat(300 + index)}`) : invoice
      )
      const messages = yield* Effect.forEach(
        documents,
        (xml, index) =>
          Effect.match(checkOf(`org_${index % 5}`, xml), {
            onSuccess: () => "valid",
            onFailure: (error) => (error._tag === "InvalidDocument" ? error.message : error._tag)
          }),
        { concurrency: 200 }
      )
      for (const [index, message] of messages.entries()) {
        if (index % 3 === 0) assert.include(message, `has ${303 + index} characters; at most 256 are allowed`)
        else assert.strictEqual(message, "valid")
      }
      assert.strictEqual(started, 2)
    }).pipe((test) => onDay("2026-11-22", test), Effect.scoped, Effect.provide(withThreads(2)))
  })

  it.effect("checks a short document before the long ones of many organizations", () => {
    const long = invoice.replace(/<FaWiersz>[^]*<\/FaWiersz>/, (row) => row.repeat(500))
    const finished: Array<string> = []
    return Effect.forEach(
      [...Array.from({ length: 10 }, () => long), invoice],
      (xml, index) =>
        Effect.ensuring(
          Effect.ignore(checkOf(`org_${index}`, xml)),
          Effect.sync(() => finished.push(xml === long ? "long" : "short"))
        ),
      { concurrency: "unbounded", discard: true }
    ).pipe(
      Effect.andThen(Effect.sync(() => assert.strictEqual(finished.indexOf("short"), 1))),
      (test) => onDay("2026-11-22", test),
      Effect.provide(withThreads(1))
    )
  })

  const warnings: Array<string> = []
  const logged = Logger.layer([
    Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") warnings.push(String(message))
    })
  ])

  it.live.each([
    ["ends", "<exit/>", 20_000],
    ["takes too long", "<hang/>", 300]
  ] as const)("passes a document whose thread %s, and counts it", ([_, xml, timeoutMs]) =>
    Effect.gen(function* () {
      warnings.length = 0
      const before = yield* counted("skipped")
      yield* check(xml)
      // The next one gets a new thread.
      yield* check(xml)
      assert.strictEqual(yield* counted("skipped"), before + 2)
      assert.deepStrictEqual(warnings, ["Document not checked; passed on", "Document not checked; passed on"])
    }).pipe(Effect.provide(withBrokenThread(timeoutMs)), Effect.provide(logged))
  )

  it.live("refuses a document when those of the organization that wait have 16 MiB, and no other", () =>
    Effect.gen(function* () {
      const large = `<hang>${"x".repeat(1_000_000)}</hang>`
      const fibers = yield* Effect.forEach(Array.from({ length: 17 }), () =>
        Effect.forkChild(check(large), { startImmediately: true })
      )
      const error = yield* Effect.flip(check(large))
      assert.strictEqual(error._tag, "DocumentNotChecked")
      yield* Fiber.interruptAll(fibers)
    }).pipe(Effect.provide(withBrokenThread(20_000)))
  )
})
