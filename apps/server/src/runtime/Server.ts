/** The whole server: packages, database and settings, wired together. */
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import * as Database from "../database/Database.ts"
import * as DatabaseClock from "../database/DatabaseClock.ts"
import * as Directory from "../cells/Directory.ts"
import * as Replica from "../database/Replica.ts"
import * as Notifier from "../jobs/Notifier.ts"
import * as NationalSystem from "../invoices/ksef/NationalSystem.ts"
import * as KeyCheck from "../maintenance/KeyCheck.ts"
import * as QueueGauges from "../maintenance/QueueGauges.ts"
import * as Readiness from "../maintenance/Readiness.ts"
import * as HttpApp from "../http/HttpApp.ts"
import * as Operational from "../http/handlers/Operational.ts"
import * as NodeServer from "../http/transport/NodeServer.ts"
import * as StartProgress from "../observability/StartProgress.ts"
import * as KsefMetrics from "../invoices/ksef/KsefMetrics.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as MetricsServer from "../observability/MetricsServer.ts"
import * as Tracing from "../observability/Tracing.ts"
import * as AccessTokens from "../accounts/AccessTokens.ts"
import * as Cursors from "../crypto/Cursors.ts"
import * as KeyRing from "../crypto/KeyRing.ts"
import * as SuccessorTokens from "../crypto/SuccessorTokens.ts"
import * as DeploymentSecrets from "../settings/DeploymentSecrets.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import * as Stores from "./Stores.ts"
import * as Workers from "./Workers.ts"

const secrets = Layer.unwrap(
  Effect.map(Settings, (settings) => {
    const { encryptionKeys, jwtSecret } = DeploymentSecrets.find(settings)
    return Layer.mergeAll(
      AccessTokens.layer(jwtSecret),
      Cursors.layer(jwtSecret),
      KeyRing.layer(encryptionKeys),
      SuccessorTokens.layer(jwtSecret)
    )
  })
)

/** The URL that the server listens on; `undefined` for a worker. */
export class Listening extends Context.Service<Listening, { readonly url: string | undefined }>()(
  "@govoice/server/runtime/Listening"
) {}

const http = Layer.effect(
  Listening,
  Effect.map(HttpServer.HttpServer, ({ address }) => ({ url: HttpServer.formatAddress(address) }))
).pipe(Layer.provideMerge(HttpApp.layer))

const nothingServed = Layer.succeed(Listening)({ url: undefined })

/** The stores and what they need, with the database waited for and migrated. */
const prepared = Stores.layer.pipe(
  Layer.provide(Replica.layer),
  Layer.provideMerge(Notifier.layer),
  Layer.provideMerge(Directory.layer),
  // One after the other: each may wait for the database, and the log has one line about it.
  Layer.provideMerge(NationalSystem.layer),
  Layer.provideMerge(KeyCheck.layer),
  Layer.provideMerge(DatabaseClock.layer),
  Layer.provideMerge(Layer.mergeAll(secrets, Database.layer))
)

/** What the process does once its database is ready. `onReady` gets the question whether it still is. */
const work = ({ role }: SettingsShape, onReady: (problem: Effect.Effect<string | undefined>) => void) => {
  const observed = Layer.merge(QueueGauges.layer, Layer.effectDiscard(Effect.map(Readiness.makeWithWorkers, onReady)))
  if (role === "worker") {
    return Layer.mergeAll(nothingServed, Workers.layer, observed).pipe(Layer.provide(prepared))
  }
  const served = role === "api" ? http : Layer.mergeAll(http, Workers.layer)
  // Built first: the process listens before its database answers, so that probes learn what it waits for.
  return Layer.merge(served, observed).pipe(Layer.provide(prepared), Layer.provide(NodeServer.layer))
}

const metricsFromStart = ({ liveMode }: SettingsShape) => [
  ...EngineMetrics.fromStart(),
  ...(liveMode ? KsefMetrics.fromStart() : [])
]

const makeMetricsServer = () => NodeServer.make(NodeServer.limits)

/** Runs the server with these settings. */
export const layer = (settings: SettingsShape) => {
  const progress = { reason: StartProgress.starting, waitMs: settings.databaseWaitMs }
  let problem: Effect.Effect<string | undefined> = Effect.sync(() => progress.reason)
  const metrics = MetricsServer.layer({
    fromStart: metricsFromStart(settings),
    probes: Operational.probes(Effect.suspend(() => problem)),
    makeServer: makeMetricsServer
  })
  return Layer.merge(
    work(settings, (question) => (problem = question)),
    metrics
  ).pipe(
    Layer.provide(Layer.succeed(StartProgress.StartProgress)(progress)),
    Layer.provide(Layer.succeed(Settings)(settings)),
    Layer.provide(Tracing.layer(settings))
  )
}
