/** The workers of a process, and the services that they share. */
import { Dispatcher, type DispatcherOptions } from "@govoice/dispatcher"
import { Effect, Layer } from "effect"
import * as EmbeddedMaintenance from "../maintenance/EmbeddedMaintenance.ts"
import * as QueueGauges from "../maintenance/QueueGauges.ts"
import * as QuarantineLoop from "../jobs/QuarantineLoop.ts"
import * as QuarantineProcess from "../jobs/QuarantineProcess.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import * as QuarantineDispatcher from "../webhooks/QuarantineDispatcher.ts"
import * as QuarantineQueue from "../webhooks/QuarantineQueue.ts"
import * as QuarantineWorker from "../webhooks/QuarantineWorker.ts"
import * as InvoiceQuarantineWorker from "../invoices/sandbox/InvoiceQuarantineWorker.ts"
import type { QuarantineStart } from "./quarantine.ts"
import * as DeliveryQueue from "../webhooks/DeliveryQueue.ts"
import * as DeliveryWorker from "../webhooks/DeliveryWorker.ts"
import * as WorkerDbClient from "../database/WorkerDbClient.ts"
import * as InvoiceQueue from "../invoices/sandbox/InvoiceQueue.ts"
import * as InvoiceWorker from "../invoices/sandbox/InvoiceWorker.ts"
import * as LaneWorker from "../invoices/live/LaneWorker.ts"
import * as Pruner from "../maintenance/Pruner.ts"
import * as DeliveryScheduler from "../webhooks/DeliveryScheduler.ts"

const dispatcherOptions = ({ webhooks, workerConcurrency }: SettingsShape): DispatcherOptions => ({
  ...webhooks.policy,
  proxy: webhooks.proxy,
  deadlineMs: webhooks.timeoutMs,
  // The queue is in the database: nothing waits for a connection while its deadline runs.
  maxConnectionsPerTarget: workerConcurrency
})

const layerDispatcher = Layer.unwrap(Effect.map(Settings, (settings) => Dispatcher.layer(dispatcherOptions(settings))))

// In a bundle, this module and the entry are beside each other.
const quarantineEntry = new URL(`./quarantine.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)

// Each worker has a process of its own.
const layerQuarantineProcess = Layer.fresh(
  Layer.unwrap(
    Effect.map(Settings, (settings) =>
      QuarantineProcess.layer({
        entry: quarantineEntry,
        start: {
          dispatcher: dispatcherOptions(settings),
          sandboxStepMs: settings.sandboxStepMs
        } satisfies QuarantineStart,
        startMs: QuarantineLoop.startMs,
        timeoutMs: settings.webhooks.timeoutMs + 5000
      })
    )
  )
)

/** Layer that runs the workers of this process. */
export const layer = Layer.mergeAll(
  Layer.mergeAll(InvoiceWorker.layer, InvoiceQuarantineWorker.layer.pipe(Layer.provide(layerQuarantineProcess))).pipe(
    Layer.provide(InvoiceQueue.layer)
  ),
  LaneWorker.layer,
  DeliveryWorker.layer.pipe(Layer.provide([DeliveryQueue.layer, DeliveryScheduler.layer, layerDispatcher])),
  QuarantineWorker.layer.pipe(
    Layer.provide([DeliveryQueue.layer, QuarantineQueue.layer, QuarantineDispatcher.layer]),
    Layer.provide(layerQuarantineProcess)
  ),
  Pruner.layerScheduled.pipe(Layer.provide(Pruner.layer)),
  QueueGauges.layer,
  EmbeddedMaintenance.layer
).pipe(Layer.provide(WorkerDbClient.layer))
