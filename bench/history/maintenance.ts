/**
 * The statements whose results the server keeps for a while or that it executes seldom: counts, gauges and the pruner. They are
 * executed by its own modules, without what is kept.
 */
import { Effect, Layer, ManagedRuntime } from "effect"
import * as Database from "../../apps/server/src/database/Database.ts"
import * as InvoiceStats from "../../apps/server/src/invoices/InvoiceStats.ts"
import * as Pruner from "../../apps/server/src/maintenance/Pruner.ts"
import * as QueueGauges from "../../apps/server/src/maintenance/QueueGauges.ts"
import { read, Settings } from "../../apps/server/src/settings/Settings.ts"
import * as DeliveryStats from "../../apps/server/src/deliveries/DeliveryStats.ts"

type Organization = Parameters<DeliveryStats.DeliveryStats["Service"]["ofOrganization"]>[0]
type Endpoint = Parameters<DeliveryStats.DeliveryStats["Service"]["ofEndpoint"]>[0]

/** Executes statements in a database. */
export interface Maintenance {
  /** Executes each statement once. */
  readonly run: (organization: string, endpoint: string) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Connects to a migrated database. */
export const startMaintenance = (url: string): Maintenance => {
  // Retention is that of the defaults.
  const settings = Layer.succeed(Settings)(read({ GOVOICE_DATA_DIR: "memory" }))
  const runtime = ManagedRuntime.make(Layer.merge(Database.layerClient({ _tag: "Postgres", url }), settings))
  const statistics = (organization: Organization, endpoint: Endpoint) =>
    Effect.gen(function* () {
      const deliveries = yield* DeliveryStats.DeliveryStats
      const invoices = yield* InvoiceStats.InvoiceStats
      for (const window of ["24h", "7d"] as const) {
        yield* deliveries.ofOrganization(organization, window)
        yield* deliveries.ofEndpoint(endpoint, window)
      }
      yield* invoices.ofOrganization(organization)
      // A service of its own, because each keeps its counts.
    }).pipe(Effect.provide(Layer.fresh(Layer.merge(DeliveryStats.layer, InvoiceStats.layer))))
  const prune = Effect.flatMap(Pruner.Pruner, ({ prune }) => prune).pipe(Effect.provide(Layer.fresh(Pruner.layer)))
  return {
    run: (organization, endpoint) =>
      runtime.runPromise(
        Effect.gen(function* () {
          yield* statistics(organization as Organization, endpoint as Endpoint)
          yield* QueueGauges.read(10)
          yield* prune
        })
      ),
    stop: () => runtime.dispose()
  }
}
