/**
 * The workers of a process, and what they share.
 *
 * @since 0.1.0
 */
import { Dispatcher } from "@govoice/dispatcher"
import { Effect, Layer } from "effect"
import * as QueueGauges from "../observability/QueueGauges.ts"
import { Settings } from "../settings/Settings.ts"
import * as DeliveryQueue from "./DeliveryQueue.ts"
import * as DeliveryWorker from "./DeliveryWorker.ts"
import * as EnginePool from "./EnginePool.ts"
import * as InvoiceQueue from "./InvoiceQueue.ts"
import * as InvoiceWorker from "./InvoiceWorker.ts"
import * as Retention from "./Retention.ts"
import * as Timers from "./Timers.ts"

const layerDispatcher = Layer.unwrap(
  Effect.map(Settings, ({ webhooks, workerConcurrency }) =>
    Dispatcher.layer({
      allowHttp: webhooks.allowHttp,
      allowNetworks: webhooks.allowNetworks,
      deadlineMs: webhooks.timeoutMs,
      // The queue is in the database: nothing waits for a connection while its deadline runs.
      maxConnectionsPerTarget: workerConcurrency
    })
  )
)

/**
 * Layer that runs the workers of this process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.mergeAll(
  InvoiceWorker.layer.pipe(Layer.provide(InvoiceQueue.layer)),
  DeliveryWorker.layer.pipe(Layer.provide([DeliveryQueue.layer, Timers.layer, layerDispatcher])),
  Retention.layerHourly.pipe(Layer.provide(Retention.layer)),
  QueueGauges.layer
).pipe(Layer.provide(EnginePool.layer))
