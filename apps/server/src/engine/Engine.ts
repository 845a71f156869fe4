/**
 * The workers of a process, and what they share.
 *
 * @since 0.1.0
 */
import { Dispatcher } from "@govoice/dispatcher"
import { Effect, Layer } from "effect"
import { Settings } from "../settings/Settings.ts"
import * as DeliveryQueue from "./DeliveryQueue.ts"
import * as DeliveryWorker from "./DeliveryWorker.ts"
import * as InvoiceQueue from "./InvoiceQueue.ts"
import * as InvoiceWorker from "./InvoiceWorker.ts"

const layerDispatcher = Layer.unwrap(
  Effect.map(Settings, ({ webhooks }) =>
    Dispatcher.layer({
      allowHttp: webhooks.allowHttp,
      allowNetworks: webhooks.allowNetworks,
      deadlineMs: webhooks.timeoutMs
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
  DeliveryWorker.layer.pipe(Layer.provide([DeliveryQueue.layer, layerDispatcher]))
)
