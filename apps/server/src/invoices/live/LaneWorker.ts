/**
 * Claims lanes and runs them. Leases are renewed together; a lane whose lease was lost is stopped at once.
 */
import { Clock, Context, Duration, Effect, FiberMap, Layer, Metric, Schedule } from "effect"
import { GatewayCredentials } from "./GatewayCredentials.ts"
import * as OutageLog from "../../database/OutageLog.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import * as WorkerLoop from "../../jobs/WorkerLoop.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import { Settings } from "../../settings/Settings.ts"
import * as KsefMetrics from "./ksef/KsefMetrics.ts"
import * as LaneCalls from "./ksef/LaneCalls.ts"
import { type LaneContext, LookupTiming } from "./ksef/LaneContext.ts"
import * as LaneStore from "./ksef/LaneStore.ts"
import * as Logins from "./ksef/Logins.ts"
import * as KsefTokenStore from "./ksef/KsefTokenStore.ts"
import { NationalSystem, type NationalSystemShape } from "./ksef/NationalSystem.ts"
import { PublicKeyCache } from "./ksef/PublicKeyCache.ts"
import { runLane, StepSignals } from "./ksef/runLane.ts"
import { toLimits } from "./ksef/RateLimitWindows.ts"
import { type Lane, LaneQueue } from "./LaneQueue.ts"
import * as LaneGauges from "./LaneGauges.ts"
import * as MissingCredentials from "./MissingCredentials.ts"
import * as LaneQueueLayer from "./LaneQueue.ts"

const maxLanes = 200

/** How often lanes are looked for that have work and that nobody made due, in milliseconds. Tests replace it. */
export const RescueInterval: Context.Reference<number> = Context.Reference(
  "@govoice/server/invoices/live/LaneWorker/RescueInterval",
  { defaultValue: () => 10_000 }
)

// A claim does not tell when the next lane is due.
const pollIntervalMs = 1000

const limitsMaxAgeMs = 24 * 3_600_000

interface LeasedLane {
  readonly lane: Lane
  readonly context: LaneContext
  readonly signals: StepSignals
  leasedUntil: number
}

const worker = (system: NationalSystemShape) =>
  Effect.gen(function* () {
    const queue = yield* LaneQueue
    const store = yield* LaneStore.LaneStore
    const credentials = yield* GatewayCredentials
    const missingCredentials = yield* MissingCredentials.MissingCredentials
    const notifier = yield* Notifier
    const { ksef, leaseMs } = yield* Settings
    const tokenStoreOf = yield* KsefTokenStore.make
    const lookupTiming = yield* LookupTiming
    const process = LaneCalls.makeProcess(ksef.concurrency)
    const keys = new PublicKeyCache(system.client)
    const leasedLanes = new Map<string, LeasedLane>()
    const fibers = yield* FiberMap.make<string>()

    const contextOf = (lane: Lane, signals: StepSignals): LaneContext => {
      const call = LaneCalls.make(process, lane)
      return {
        lane,
        process,
        store,
        system,
        credentials,
        keys,
        call,
        logins: Logins.make({
          call,
          client: system.client,
          credentials,
          keys,
          tokens: tokenStoreOf(lane),
          tokenLogins: process.tokenLogins,
          failedLogins: process.failedLogins
        }),
        giveUpMs: ksef.giveUpHours * 3_600_000,
        lookupTiming,
        organizations: new Map(),
        organizationsReadAt: 0,
        postponed: new Map(),
        links: new Map(),
        accepted: [],
        receiptsAt: 0,
        wake: (step, at) => signals.wake(step, at),
        wakeDeliveries: notifier.wake("deliveries")
      }
    }

    const readLimits = Effect.fnUntraced(function* (context: LaneContext) {
      const { lane } = context
      const now = yield* Clock.currentTimeMillis
      if (lane.limitsAt !== undefined && now - lane.limitsAt < limitsMaxAgeMs) return
      const [organization] = yield* store.organizations(lane.nip)
      if (organization === undefined || organization.credential_state !== "accepted") return
      const token = yield* context.logins.accessToken(organization)
      const limits = yield* context.call("rateLimits", system.client.rateLimits(token))
      lane.windows.setLimits(toLimits(limits))
      yield* queue.setLimits(lane, limits)
    })

    const run = (entry: LeasedLane) =>
      Effect.gen(function* () {
        const { context, lane, signals } = entry
        yield* Effect.ignore(readLimits(context))
        const release = yield* runLane(context, signals)
        yield* queue.release(lane, release, yield* Clock.currentTimeMillis)
      }).pipe(
        Effect.catchTag("LaneLost", ({ nip }) =>
          Effect.annotateLogs(Effect.logWarning("Lane lease lost; its outcomes are discarded"), { nip })
        ),
        Effect.catchCause((cause) =>
          OutageLog.report(
            cause,
            Effect.logError("Lane stopped; another holder continues when its lease expires", cause)
          ).pipe(Effect.annotateLogs({ nip: entry.lane.nip }))
        ),
        // A stop gives the lane back, so that the next holder need not wait for the lease.
        Effect.onInterrupt(() =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            Effect.ignore(queue.release(entry.lane, { nextAt: now, isSendIdle: false }, now))
          )
        ),
        Effect.ensuring(
          Effect.sync(() => {
            if (leasedLanes.get(entry.lane.nip) === entry) leasedLanes.delete(entry.lane.nip)
          })
        )
      )

    const renew = Effect.gen(function* () {
      const entries = [...leasedLanes.values()]
      if (entries.length === 0) return
      const startedAt = yield* Clock.currentTimeMillis
      const renewed = yield* queue.renew(
        entries.map(({ lane }) => lane),
        leaseMs
      )
      for (const entry of entries) {
        if (renewed.has(entry.lane.nip)) entry.leasedUntil = startedAt + leaseMs
        else if (leasedLanes.get(entry.lane.nip) === entry) yield* FiberMap.remove(fibers, entry.lane.nip)
      }
    })

    // A holder that cannot renew stops before another one can begin.
    const stopExpired = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      for (const [nip, { leasedUntil }] of leasedLanes) if (leasedUntil <= now) yield* FiberMap.remove(fibers, nip)
    })

    const keepLeases = renew.pipe(
      Effect.timeout(Duration.millis(leaseMs / 3)),
      Effect.catchCause((cause) =>
        OutageLog.report(cause, Effect.logWarning("Lane leases could not be renewed", cause))
      ),
      Effect.andThen(stopExpired)
    )

    const rescue = Effect.catchCause(Effect.andThen(queue.rescue, missingCredentials.show), (cause) =>
      OutageLog.report(cause, Effect.logWarning("Lanes could not be rescued", cause))
    )

    // It names the reason of an outage, in the logs and to the owners of the invoices that were tried.
    const readBeacon = Effect.gen(function* () {
      const beacon = yield* Effect.orElseSucceed(system.client.beacon, () => undefined)
      yield* Effect.annotateLogs(
        Effect.logWarning("KSeF is unavailable; calls are stopped"),
        beacon === undefined ? {} : { beacon: beacon.status }
      )
      process.outage.report(beacon?.status)
      yield* Effect.catchCause(process.outage.tell(store.explain), (cause) =>
        OutageLog.report(cause, Effect.logWarning("The reason of an outage could not be stored", cause))
      )
    })

    let isReported = false
    const probe = Effect.gen(function* () {
      keys.invalidate()
      yield* Effect.ignore(keys.get("SymmetricKeyEncryption", LaneCalls.make(process, "probe")))
      yield* Metric.update(KsefMetrics.breakerOpen, process.breaker.isOpen ? 1 : 0)
      if (process.breaker.isOpen) return yield* readBeacon
      isReported = false
      process.outage.end()
      yield* Effect.logInfo("KSeF is available again")
    })

    const iterate = Effect.fnUntraced(function* (woken: boolean) {
      const now = yield* Clock.currentTimeMillis
      const { breaker } = process
      if (breaker.isOpen) {
        if (!isReported) {
          isReported = true
          yield* Metric.update(KsefMetrics.breakerOpen, 1)
          yield* readBeacon
        }
        if (now < breaker.state.openUntil) return { sleepUntil: breaker.state.openUntil }
        yield* probe
        return "again" as const
      }
      const leased = woken ? [...leasedLanes.keys()] : []
      const limit = maxLanes - leasedLanes.size
      if (limit <= 0 && leased.length === 0) return { sleepUntil: Infinity }
      const claim = queue.claim({ limit, leaseMs, leased })
      const claimed = yield* EngineMetrics.timed(EngineMetrics.claimDuration("lanes"), claim)
      for (const nip of claimed.withInvoices) leasedLanes.get(nip)?.signals.wake("send")
      for (const nip of claimed.withCredential) {
        const entry = leasedLanes.get(nip)
        if (entry === undefined) continue
        entry.context.organizationsReadAt = 0
        entry.signals.wake("send")
      }
      for (const lane of claimed.lanes) {
        const signals = new StepSignals()
        const entry: LeasedLane = { lane, context: contextOf(lane, signals), signals, leasedUntil: now + leaseMs }
        leasedLanes.set(lane.nip, entry)
        yield* FiberMap.run(fibers, lane.nip, run(entry))
      }
      yield* Metric.update(KsefMetrics.lanes, leasedLanes.size)
      return { sleepUntil: now + pollIntervalMs }
    })

    yield* Effect.forkScoped(Effect.repeat(keepLeases, Schedule.spaced(Duration.millis(leaseMs / 3))))
    yield* Effect.forkScoped(Effect.repeat(rescue, Schedule.spaced(Duration.millis(yield* RescueInterval))))
    yield* WorkerLoop.run({ kind: "lanes", iterate, notifier })
  })

/** Runs the lanes of this deployment. Without live mode it does nothing. Provides nothing. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const system = yield* NationalSystem
    const { ksef, leaseMs } = yield* Settings
    if (system === undefined) return Layer.empty
    return Layer.merge(Layer.effectDiscard(worker(system)), LaneGauges.layer).pipe(
      Layer.provide(MissingCredentials.layerOf(system.environmentId, ksef.giveUpHours * 3_600_000)),
      Layer.provide(LaneStore.layerOf(system.environmentId, leaseMs)),
      Layer.provide(LaneQueueLayer.layerOf(system.environmentId))
    )
  })
)
