/** What runs again and again in a process, while every statement fails. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@govoice/dispatcher"
import type { KsefClient } from "@govoice/ksef/client"
import { Environment } from "@govoice/ksef/client"
import { Effect, Layer, Logger, Metric, Result, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import * as PasswordResets from "../../src/accounts/PasswordResets.ts"
import { Sessions } from "../../src/accounts/Sessions.ts"
import { KeyRing } from "../../src/crypto/KeyRing.ts"
import { Shared } from "../../src/database/Database.ts"
import * as DatabaseClock from "../../src/database/DatabaseClock.ts"
import * as AloneWorker from "../../src/deliveries/AloneWorker.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as DeliveryScheduler from "../../src/deliveries/DeliveryScheduler.ts"
import * as DeliveryWorker from "../../src/deliveries/DeliveryWorker.ts"
import * as AnnouncedFailures from "../../src/invoices/ksef/AnnouncedFailures.ts"
import { GatewayCredentials } from "../../src/invoices/ksef/GatewayCredentials.ts"
import * as LaneWorker from "../../src/invoices/ksef/LaneWorker.ts"
import { NationalSystem } from "../../src/invoices/ksef/NationalSystem.ts"
import * as InvoiceWorker from "../../src/invoices/sandbox/InvoiceWorker.ts"
import { Notifier } from "../../src/jobs/Notifier.ts"
import * as NoticeJob from "../../src/mail/NoticeJob.ts"
import * as Notices from "../../src/mail/Notices.ts"
import * as PasswordResetMail from "../../src/mail/PasswordResetMail.ts"
import * as EmbeddedMaintenance from "../../src/maintenance/EmbeddedMaintenance.ts"
import * as KeyCheck from "../../src/maintenance/KeyCheck.ts"
import * as Pruner from "../../src/maintenance/Pruner.ts"
import * as QueueGauges from "../../src/maintenance/QueueGauges.ts"
import * as EngineMetrics from "../../src/observability/EngineMetrics.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

/** A database that has no rows, and fails once it is broken. */
const makeDatabase = () => {
  let isBroken = false
  const reason = new SqlError.UnknownError({ cause: new Error("broken") })
  const execute = Effect.suspend(() => (isBroken ? Effect.fail(new SqlError.SqlError({ reason })) : Effect.succeed([])))
  const connection = {
    execute: () => execute,
    executeRaw: () => execute,
    executeStream: () => Stream.fromEffect(execute),
    executeUnprepared: () => execute,
    executeValues: () => execute,
    executeValuesUnprepared: () => execute
  }
  const client = SqlClient.make({
    acquirer: Effect.succeed(connection),
    compiler: PgClient.makeCompiler(),
    driver: "broken",
    spanAttributes: []
  })
  return {
    layer: Layer.effect(SqlClient.SqlClient, client).pipe(Layer.provide(Reactivity.layer)),
    break: () => (isBroken = true)
  }
}

const notifier = Notifier.of({
  wake: () => Effect.void,
  recheck: () => Effect.void,
  wait: (_, milliseconds) => Effect.as(Effect.sleep(milliseconds), false)
})

const environment = Result.getOrThrow(Environment.at("https://ksef.example.com/v2"))

const mail = {
  smtpUrl: "smtp://127.0.0.1:1",
  from: "govoice@example.com",
  publicUrl: "https://govoice.example.com"
}

const keys = Layer.succeed(KeyRing)(fixtures.keyRing)

const loops = Layer.mergeAll(
  AloneWorker.layer,
  AnnouncedFailures.layer,
  DatabaseClock.layer.pipe(Layer.provide(Layer.succeed(Shared)(true))),
  DeliveryWorker.layer,
  EmbeddedMaintenance.layer,
  InvoiceWorker.layer,
  LaneWorker.layer,
  NoticeJob.layer,
  PasswordResetMail.layer,
  Pruner.layerScheduled,
  QueueGauges.layer
).pipe(
  Layer.provide([DeliveryQueue.layer, DeliveryScheduler.layer, Notices.layer, PasswordResets.layer, Pruner.layer]),
  Layer.provide([
    Layer.mock(Dispatcher)({}),
    Layer.mock(GatewayCredentials)({}),
    Layer.mock(Sessions)({}),
    keys,
    Layer.succeed(Notifier)(notifier),
    Layer.succeed(NationalSystem)({
      environment,
      environmentId: environment.baseUrl,
      client: {} as KsefClient.KsefClient
    }),
    Layer.succeed(Shared)(false),
    TestSettings.layer({ mail, metricsPort: 9464 })
  ])
)

describe("a loop whose iterations fail", () => {
  it.effect("is counted once for each line of the log", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.layer([
        Logger.make(({ logLevel, message }) => {
          if (logLevel !== "Info") lines.push(String(message))
        })
      ])
      const database = makeDatabase()
      const read = Effect.forEach(EngineMetrics.loops, (loop) =>
        Effect.map(Metric.value(EngineMetrics.failedIterations(loop)), ({ count }) => count)
      )
      yield* Effect.gen(function* () {
        const before = yield* read
        // The process does not start where the keys cannot be checked.
        yield* Layer.build(KeyCheck.layer.pipe(Layer.provide([keys, database.layer])))
        database.break()
        yield* Layer.build(loops.pipe(Layer.provide(database.layer)))
        yield* TestClock.adjust("2 minutes")
        const counts = (yield* read).map((count, index) => count - before[index]!)
        assert.deepStrictEqual(
          EngineMetrics.loops.filter((_, index) => counts[index] === 0),
          []
        )
        assert.lengthOf(
          lines,
          counts.reduce((sum, count) => sum + count, 0)
        )
      }).pipe(Effect.provide(logger))
    })
  )
})
