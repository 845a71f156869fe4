/** The workers of a process, and the services that they share. */
import { Dispatcher, type DispatcherOptions } from "@govoice/dispatcher"
import { Effect, Layer } from "effect"
import * as EmbeddedMaintenance from "../maintenance/EmbeddedMaintenance.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import * as AloneWorker from "../deliveries/AloneWorker.ts"
import * as DeliveryQueue from "../deliveries/DeliveryQueue.ts"
import * as DeliveryWorker from "../deliveries/DeliveryWorker.ts"
import * as WorkerDbClient from "../database/WorkerDbClient.ts"
import * as InvoiceWorker from "../invoices/sandbox/InvoiceWorker.ts"
import * as AnnouncedFailures from "../invoices/ksef/AnnouncedFailures.ts"
import * as LaneWorker from "../invoices/ksef/LaneWorker.ts"
import * as NoticeJob from "../mail/NoticeJob.ts"
import * as PasswordResetMail from "../mail/PasswordResetMail.ts"
import * as Pruner from "../maintenance/Pruner.ts"
import * as DeliveryScheduler from "../deliveries/DeliveryScheduler.ts"

const dispatcherOptions = ({ webhooks, workerConcurrency }: SettingsShape): DispatcherOptions => ({
  ...webhooks.policy,
  proxy: webhooks.proxy,
  deadlineMs: webhooks.timeoutMs,
  // The queue is in the database: nothing waits for a connection while its deadline runs.
  maxConnectionsPerTarget: workerConcurrency
})

const layerDispatcher = Layer.unwrap(Effect.map(Settings, (settings) => Dispatcher.layer(dispatcherOptions(settings))))

// In a bundle, this module and the entry are beside each other.
const spareEntry = new URL(`./spare.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)

const layerSpareDispatcher = Layer.unwrap(
  Effect.map(Settings, (settings) =>
    AloneWorker.layerDispatcher(spareEntry, dispatcherOptions(settings), settings.webhooks.timeoutMs + 5000)
  )
)

/** Layer that runs the workers of this process. */
export const layer = Layer.mergeAll(
  InvoiceWorker.layer,
  LaneWorker.layer,
  AnnouncedFailures.layer,
  DeliveryWorker.layer.pipe(Layer.provide([DeliveryQueue.layer, DeliveryScheduler.layer, layerDispatcher])),
  AloneWorker.layer.pipe(Layer.provide([DeliveryQueue.layer, layerSpareDispatcher])),
  PasswordResetMail.layer,
  NoticeJob.layer,
  Pruner.layerScheduled.pipe(Layer.provide(Pruner.layer)),
  EmbeddedMaintenance.layer
).pipe(Layer.provide(WorkerDbClient.layer))
