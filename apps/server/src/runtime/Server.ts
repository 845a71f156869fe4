/** The whole server: packages, database and settings, wired together. */
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import * as Database from "../database/Database.ts"
import * as DatabaseClock from "../database/DatabaseClock.ts"
import * as Engine from "./Workers.ts"
import * as Notifier from "../jobs/Notifier.ts"
import { InvoiceGateways } from "../invoices/sandbox/gateway/InvoiceGateway.ts"
import * as NationalSystem from "../invoices/live/ksef/NationalSystem.ts"
import * as KeyCheck from "../maintenance/KeyCheck.ts"
import * as SandboxGateway from "../invoices/sandbox/gateway/SandboxGateway.ts"
import * as HttpApp from "../http/HttpApp.ts"
import * as NodeServer from "../http/transport/NodeServer.ts"
import * as KsefMetrics from "../invoices/live/ksef/KsefMetrics.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as MetricsServer from "../observability/MetricsServer.ts"
import * as Tracing from "../observability/Tracing.ts"
import * as AccessTokens from "../accounts/AccessTokens.ts"
import * as Cursors from "../crypto/Cursors.ts"
import * as KeyRing from "../crypto/KeyRing.ts"
import * as SuccessorTokens from "../crypto/SuccessorTokens.ts"
import * as DeploymentSecrets from "../settings/DeploymentSecrets.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import * as Store from "./Stores.ts"

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

const gateways = Layer.effect(
  InvoiceGateways,
  Effect.map(Settings, ({ sandboxStepMs }) => ({ test: SandboxGateway.make(sandboxStepMs) }))
)

/** The URL that the server listens on; `undefined` for a worker. */
export class Listening extends Context.Service<Listening, { readonly url: string | undefined }>()(
  "@govoice/server/runtime/Listening"
) {}

const http = Layer.effect(
  Listening,
  Effect.map(HttpServer.HttpServer, ({ address }) => ({ url: HttpServer.formatAddress(address) }))
).pipe(Layer.provideMerge(HttpApp.layer), Layer.provide(NodeServer.layer))

const nothingServed = Layer.succeed(Listening)({ url: undefined })

const roles = {
  all: Layer.mergeAll(http, Engine.layer),
  api: http,
  worker: Layer.mergeAll(nothingServed, Engine.layer)
}

const metricsFromStart = ({ liveMode }: SettingsShape) => [
  ...EngineMetrics.fromStart(),
  ...(liveMode ? KsefMetrics.fromStart() : [])
]

/** Runs the server with these settings. */
export const layer = (settings: SettingsShape) =>
  Layer.merge(roles[settings.role], MetricsServer.layer(metricsFromStart(settings))).pipe(
    Layer.provide(Store.layer),
    Layer.provide(Notifier.layer),
    Layer.provide([DatabaseClock.layer, KeyCheck.layer, NationalSystem.layer]),
    Layer.provide([secrets, gateways, Database.layer]),
    Layer.provide(Layer.succeed(Settings)(settings)),
    Layer.provide(Tracing.layer(settings))
  )
