/**
 * Claims lanes and runs them. Leases are renewed together; a lane whose lease was lost makes no more calls, and is stopped.
 */
import { Clock, Context, Duration, Effect, Fiber, FiberMap, Layer, Metric, Schedule, Semaphore } from "effect"
import { GatewayCredentials } from "./GatewayCredentials.ts"
import * as OutageLog from "../../database/OutageLog.ts"
import * as LeaseTime from "../../jobs/LeaseTime.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import * as WorkerLoop from "../../jobs/WorkerLoop.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import * as MonotonicTime from "../../observability/MonotonicTime.ts"
import { Settings } from "../../settings/Settings.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import * as LaneCalls from "./LaneCalls.ts"
import { makeProcess } from "./LaneProcess.ts"
import { type LaneContext, LookupTiming } from "./LaneContext.ts"
import * as MissingCredentials from "./MissingCredentials.ts"
import * as LaneStore from "./LaneStore.ts"
import * as Logins from "./Logins.ts"
import { NationalSystem, type NationalSystemShape } from "./NationalSystem.ts"
import { PublicKeyCache } from "./LaneCalls.ts"
import { runLane, StepSignals } from "./runLane.ts"
import { toLimits } from "./RateLimitWindows.ts"
import type { TroubleRecord } from "./Troubles.ts"
import * as WaitReasons from "./WaitReasons.ts"
import { type Lane, LaneQueue, layerOf as laneQueueOf, type Release } from "./LaneQueue.ts"

const maxLanes = 200

/**
 * How many lanes are held of which KSeF has accepted no credential: anybody can store those of many taxpayers. Their logins share the
 * calls that an address may make, so that more would take longer each, and be no more a second.
 */
const maxOthers = 12

/** How often lanes are looked for that have work and that nobody made due, in milliseconds. Tests replace it. */
export const RescueInterval: Context.Reference<number> = Context.Reference(
  "@govoice/server/invoices/ksef/LaneWorker/RescueInterval",
  { defaultValue: () => 10_000 }
)

// A claim does not tell when the next lane is due: the loop polls.
const untilPolled = { sleepUntil: Infinity }

const limitsMaxAgeMs = 24 * 3_600_000

interface LeasedLane {
  readonly lane: Lane
  readonly context: LaneContext
  readonly signals: StepSignals
  /** In monotonic time. */
  leasedUntil: number
  /** Whether another process may have the lane. */
  isLost: boolean
}

/** The time for what is being sent when the process stops, beside that of webhooks: the process ends soon after. */
const endWithinMs = 2000

const makeWorker = Effect.fnUntraced(function* (system: NationalSystemShape) {
  const { leaseMs, webhooks } = yield* Settings
  return {
    system,
    leaseMs,
    stopMs: webhooks.timeoutMs + endWithinMs,
    queue: yield* LaneQueue,
    store: yield* LaneStore.LaneStore,
    credentials: yield* GatewayCredentials,
    notifier: yield* Notifier,
    reasons: yield* WaitReasons.make(system.environmentId),
    showMissing: yield* MissingCredentials.makeShow(system.environmentId),
    tokenStoreOf: yield* Logins.makeTokenStore,
    lookupTiming: yield* LookupTiming,
    process: makeProcess(),
    keys: new PublicKeyCache(system.client),
    leasedLanes: new Map<string, LeasedLane>(),
    fibers: yield* FiberMap.make<string>(),
    /** Whether the log has that the circuit breaker is open. */
    isOutageLogged: false
  }
})

type Worker = Effect.Success<ReturnType<typeof makeWorker>>

const contextOf = (worker: Worker, lane: Lane, signals: StepSignals): LaneContext => {
  const { credentials, keys, lookupTiming, notifier, process, store, system, tokenStoreOf } = worker
  const isLost = () => {
    const entry = worker.leasedLanes.get(lane.context)
    return entry?.lane !== lane || entry.isLost
  }
  const caller = { ...lane, isLost }
  const call = LaneCalls.make(process, caller)
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
      strangerCall: LaneCalls.make(process, { ...caller, isStranger: true }),
      client: system.client,
      credentials,
      keys,
      tokens: tokenStoreOf(lane),
      tokenLogins: process.tokenLogins,
      failedLogins: process.failedLogins
    }),
    lookupTiming,
    organizations: new Map(),
    organizationsReadAt: 0,
    reading: Semaphore.makeUnsafe(1),
    postponed: new Map(),
    links: new Map(),
    accepted: [],
    receiptsAt: 0,
    hasUnfinishedSessions: true,
    wake: (step, at) => signals.wake(step, at),
    wakeDeliveries: notifier.wake("deliveries")
  }
}

const readLimits = Effect.fnUntraced(function* ({ queue, store, system }: Worker, context: LaneContext) {
  const { lane } = context
  const now = yield* Clock.currentTimeMillis
  if (lane.limitsAt !== undefined && now - lane.limitsAt < limitsMaxAgeMs) return
  const organizations = yield* store.organizations(lane.context)
  const organization = organizations.find(({ credential_state: state }) => state === "accepted")
  if (organization === undefined) return
  const token = yield* context.logins.accessToken(organization)
  const limits = yield* context.call("rateLimits", system.client.rateLimits(token))
  lane.windows.setLimits(toLimits(limits))
  yield* queue.setLimits(lane, limits)
})

const run = (worker: Worker, entry: LeasedLane) => {
  const { leasedLanes, process, queue } = worker
  const { context, lane, signals } = entry
  const release = (what: Release, now: number) =>
    Effect.suspend(() => queue.release(lane, { ...what, reasons: process.troubles.reasons(lane.context) }, now))
  return Effect.gen(function* () {
    yield* Effect.ignore(readLimits(worker, context))
    const left = yield* runLane(context, signals)
    if (left.nextAt === Infinity) process.troubles.resolveAll(lane.context)
    yield* release(left, yield* Clock.currentTimeMillis)
  }).pipe(
    Effect.catchTag("LaneLost", ({ context }) =>
      Effect.annotateLogs(Effect.logWarning("Lane lease lost; its outcomes are discarded"), { context })
    ),
    Effect.catchCause((cause) =>
      OutageLog.report(
        cause,
        Effect.logError("Lane stopped; another holder continues when its lease expires", cause)
      ).pipe(Effect.annotateLogs({ context: lane.context }))
    ),
    // A stop gives the lane back, so that the next holder need not wait for the lease.
    Effect.onInterrupt(() =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.ignore(release({ nextAt: now }, now)))
    ),
    Effect.ensuring(
      Effect.sync(() => {
        if (leasedLanes.get(lane.context) === entry) leasedLanes.delete(lane.context)
      })
    )
  )
}

// Does not wait until the lane has ended: its statements may wait for a lock, and the leases of others have to be renewed meanwhile.
const stop = ({ fibers }: Worker, entry: LeasedLane) => {
  entry.isLost = true
  return Effect.forkDetach(FiberMap.remove(fibers, entry.lane.context), { startImmediately: true })
}

// Its own statements lock a lane for a moment. Another session may for long, and then the lease expires.
const lockedPause = "100 millis"
const lockedTries = 10

const renew = Effect.fnUntraced(function* (worker: Worker) {
  const { leaseMs, leasedLanes, queue } = worker
  let entries = [...leasedLanes.values()]
  for (let tries = 0; entries.length > 0 && tries < lockedTries; tries++) {
    if (tries > 0) yield* Effect.sleep(lockedPause)
    const startedAt = yield* MonotonicTime.now
    const { locked, renewed } = yield* queue.renew(
      entries.map(({ lane }) => lane),
      leaseMs
    )
    for (const entry of entries) {
      const { context } = entry.lane
      if (renewed.has(context)) entry.leasedUntil = startedAt + leaseMs
      else if (!locked.has(context) && leasedLanes.get(context) === entry) yield* stop(worker, entry)
    }
    entries = entries.filter(({ lane }) => locked.has(lane.context))
  }
})

// A holder that cannot renew makes no other call, and stops.
const stopExpired = Effect.fnUntraced(function* (worker: Worker) {
  const now = yield* MonotonicTime.now
  for (const entry of worker.leasedLanes.values()) {
    if (!entry.isLost && entry.leasedUntil <= now) yield* stop(worker, entry)
  }
})

// On a silent database a renewal ends with the deadline of its statement, which may be after the lease: it is not waited for.
const keepLeases = Effect.fnUntraced(function* (worker: Worker) {
  const renewed = renew(worker).pipe(OutageLog.tolerate("lanes", "Lane leases could not be renewed"))
  const renewal = yield* Effect.forkDetach(renewed, { startImmediately: true })
  yield* Effect.timeoutOption(Fiber.await(renewal), Duration.millis(worker.leaseMs / 3))
  yield* stopExpired(worker)
})

const storeReasons = Effect.fnUntraced(function* ({ leasedLanes, process, reasons }: Worker) {
  yield* reasons.store(
    Array.from(leasedLanes.values(), ({ lane: { context, fencingToken } }) => ({
      context,
      fencingToken,
      reasons: process.troubles.reasons(context)
    }))
  )
  if (process.breaker.isOpen) yield* reasons.storeOutage(process.unavailable())
})

// Another process that has claimed a lane since knows better.
const handOverTroubles = Effect.fnUntraced(function* ({ process, reasons }: Worker) {
  const leases = process.troubles.leases()
  const held = yield* reasons.lastHeld(leases)
  for (const { context } of leases) {
    const record = held.has(context) ? undefined : process.troubles.handOver(context)
    if (record === undefined) continue
    yield* Effect.annotateLogs(Effect.logInfo("Another process has the lane of a taxpayer whose invoices wait"), {
      context,
      code: record.code
    })
  }
})

// One line when a taxpayer begins to wait for another reason than its limits, and one when it goes on.
const logTroubles = Effect.fnUntraced(function* ({ process, reasons }: Worker) {
  const { begun, ended } = process.troubles.takeChanges()
  const counts = yield* reasons.count([...begun, ...ended])
  const now = yield* Clock.currentTimeMillis
  const log = (records: ReadonlyArray<TroubleRecord>, line: Effect.Effect<void>) =>
    Effect.forEach(
      records,
      ({ code, failures, context, since }) =>
        Effect.annotateLogs(line, {
          context,
          code,
          failures,
          seconds: Math.round((now - since) / 1000),
          invoices: counts.get(context) ?? 0
        }),
      { discard: true }
    )
  yield* log(begun, Effect.logWarning("Invoices of a taxpayer wait for KSeF"))
  yield* log(ended, Effect.logInfo("Invoices of a taxpayer do not wait for KSeF any more"))
})

const rescue = (worker: Worker) =>
  Effect.all(
    [
      Effect.andThen(worker.queue.rescue, worker.showMissing).pipe(
        OutageLog.tolerate("lanes", "Lanes could not be rescued")
      ),
      Effect.all([storeReasons(worker), handOverTroubles(worker), logTroubles(worker)], { discard: true }).pipe(
        OutageLog.tolerate("lanes", "The reasons of waiting invoices could not be stored")
      )
    ],
    { discard: true }
  )

// It names the reason of an outage, in the log when it begins, and to the owners of the invoices that were tried.
const readBeacon = Effect.fnUntraced(function* (
  { process, store, system }: Worker,
  { isFirst }: { readonly isFirst: boolean }
) {
  const beacon = yield* Effect.orElseSucceed(system.client.beacon, () => undefined)
  if (isFirst) {
    yield* Effect.annotateLogs(
      Effect.logWarning("KSeF is unavailable; calls are stopped"),
      beacon === undefined ? {} : { beacon: beacon.status }
    )
  }
  process.outage.report(beacon?.status)
  yield* process.outage
    .tell(store.explain)
    .pipe(OutageLog.tolerate("lanes", "The reason of an outage could not be stored"))
})

/** Asks KSeF for its keys while the circuit breaker is open, unless it said when to ask again. */
const probeInTime = Effect.fnUntraced(function* (worker: Worker, now: number) {
  const { keys, process } = worker
  const { anonymous, breaker, outage } = process
  if (!worker.isOutageLogged) {
    worker.isOutageLogged = true
    yield* Metric.update(KsefMetrics.breakerOpen, 1)
    yield* readBeacon(worker, { isFirst: true })
  }
  // A probe within the wait that KSeF asked for would not be made.
  const probeAt = Math.max(breaker.openUntil, anonymous.pausedUntil("anonymous"))
  if (now < probeAt) return { sleepUntil: probeAt }
  keys.invalidate()
  yield* Effect.ignore(keys.get("SymmetricKeyEncryption", LaneCalls.make(process, "probe")))
  yield* Metric.update(KsefMetrics.breakerOpen, breaker.isOpen ? 1 : 0)
  if (breaker.isOpen) {
    yield* readBeacon(worker, { isFirst: false })
    return "again" as const
  }
  worker.isOutageLogged = false
  outage.end()
  yield* Effect.logInfo("KSeF is available again")
  return "again" as const
})

/** How many lanes may be claimed. Of one that was claimed a moment ago, the organizations may not be read yet. */
const free = (leasedLanes: Worker["leasedLanes"]) => {
  const accepted = [...leasedLanes.values()].filter(({ context }) =>
    [...context.organizations.values()].some(({ credential_state: state }) => state === "accepted")
  ).length
  const limit = Math.min(maxLanes - accepted, maxLanes + maxOthers - leasedLanes.size)
  return { limit: Math.max(0, limit), limitOfOthers: Math.max(0, maxOthers - (leasedLanes.size - accepted)) }
}

const iterate = Effect.fnUntraced(function* (worker: Worker, woken: boolean) {
  const { fibers, leaseMs, leasedLanes, process, queue } = worker
  const now = yield* LaneCalls.currentTime(process)
  if (process.breaker.isOpen) return yield* probeInTime(worker, now)
  const leased = woken ? [...leasedLanes.keys()] : []
  const { limit, limitOfOthers } = free(leasedLanes)
  if (limit + limitOfOthers === 0 && leased.length === 0) return untilPolled
  const claim = queue.claim({ limit, limitOfOthers, leaseMs, leased })
  const timed = EngineMetrics.timed(EngineMetrics.claimDuration("lanes"), claim)
  const { claim: claimed, leasedUntil } = yield* LeaseTime.claimed(timed, leaseMs)
  for (const context of claimed.withInvoices) {
    leasedLanes.get(context)?.signals.wake("send")
    // A refused credential is tried again when an invoice waits for it.
    leasedLanes.get(context)?.signals.wake("credentials")
  }
  for (const context of claimed.withCredential) {
    const entry = leasedLanes.get(context)
    if (entry === undefined) continue
    entry.context.organizationsReadAt = 0
    entry.signals.wake("send")
    entry.signals.wake("credentials")
  }
  for (const lane of claimed.lanes) {
    const signals = new StepSignals()
    const entry = { lane, context: contextOf(worker, lane, signals), signals, leasedUntil, isLost: false }
    leasedLanes.set(lane.context, entry)
    process.troubles.hold(lane, lane.reasons, now)
    yield* FiberMap.run(fibers, lane.context, run(worker, entry))
  }
  yield* Metric.update(KsefMetrics.lanes, leasedLanes.size)
  return untilPolled
})

// What is being sent ends, in the time that the process has for it.
const endLanes = Effect.fnUntraced(function* ({ fibers, process, stopMs }: Worker) {
  const ending = yield* Effect.forkDetach(Effect.delay(process.ending.open, stopMs))
  yield* FiberMap.clear(fibers)
  yield* Fiber.interrupt(ending)
})

const runLanes = Effect.fnUntraced(function* (system: NationalSystemShape) {
  const worker = yield* makeWorker(system)
  const renewEvery = Schedule.spaced(Duration.millis(worker.leaseMs / 3))
  yield* Effect.forkScoped(Effect.repeat(keepLeases(worker), renewEvery))
  yield* Effect.forkScoped(Effect.repeat(rescue(worker), Schedule.spaced(Duration.millis(yield* RescueInterval))))
  // Before the leases are no longer renewed, and after the last claim.
  yield* Effect.addFinalizer(() => endLanes(worker))
  const { notifier } = worker
  yield* WorkerLoop.run({ kind: "lanes", iterate: (woken) => iterate(worker, woken), notifier })
})

/** Runs the lanes of this deployment. Without live mode it does nothing. Provides nothing. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const system = yield* NationalSystem
    const { leaseMs } = yield* Settings
    if (system === undefined) return Layer.empty
    return Layer.effectDiscard(runLanes(system)).pipe(
      Layer.provide(LaneStore.layerOf(system.environmentId, leaseMs)),
      Layer.provide(laneQueueOf(system.environmentId))
    )
  })
)
