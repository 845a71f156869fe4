/**
 * Notifies workers of new work, so that they need not poll often, and of each other.
 *
 * A notification is a hint: workers poll anyway, so a lost one causes a short delay. Within a process it is a signal;
 * processes that share a database use LISTEN and NOTIFY.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Queue, Schedule, type Scope, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { Shared } from "../database/Database.ts"
import * as QueryTimeout from "../database/QueryTimeout.ts"
import { type WorkQueue, workQueues } from "../observability/EngineMetrics.ts"
import * as WorkerGroup from "./WorkerGroup.ts"

/** Service that notifies workers and lets them wait. */
export class Notifier extends Context.Service<
  Notifier,
  {
    /**
     * Wakes the workers of this kind in all processes; for deliveries of the given organizations, the workers that own their
     * partitions. Returns at once and never fails.
     */
    readonly wake: (kind: WorkQueue, organizations?: ReadonlyArray<string>) => Effect.Effect<void>
    /** Wakes the worker of this kind in this process. */
    readonly wakeLocal: (kind: WorkQueue) => Effect.Effect<void>
    /** Ends the wait of the worker in this process without waking it: it computes anew when to continue. */
    readonly recheck: (kind: WorkQueue) => Effect.Effect<void>
    /** Waits for a wake or recheck, or for as many milliseconds. Returns whether it was woken. */
    readonly wait: (kind: WorkQueue, milliseconds: number) => Effect.Effect<boolean>
    /** Joins the group of workers until the scope closes, and leaves it for as long as this worker cannot claim. */
    readonly join: (canClaim: () => boolean) => Effect.Effect<void, never, Scope.Scope>
    /** How long a worker that has nothing to do sleeps at most, in milliseconds. */
    readonly pollIntervalMs: () => number
    /** Returns the partitions that this worker owns; `undefined` if it owns all. */
    readonly ownPartitions: () => ReadonlyArray<string> | undefined
  }
>()("@govoice/server/jobs/Notifier") {}

const channel = "govoice_notifications"

// Coalesces notifications under load: NOTIFY takes a lock that serializes commits.
const spacing = Duration.millis(5)

// How often a worker checks that it can claim, and how long it waits until the others know that it has left.
const checkEvery = Duration.seconds(1)
const leaveWithin = Duration.seconds(1)

// A lost notification delays work by one interval at most. The longer one is for as long as notifications arrive: those of this
// process are among them, and come back to it.
const pollMs = 1000
const restfulPollMs = 2000

const reconnect = Schedule.spaced("1 second")

/** An announcement of a worker: it is here, it is here and asks the others to announce themselves, or it has left. */
const announcements = ["here", "join", "left"] as const
type Announcement = (typeof announcements)[number]

/** Layer that provides `Notifier`. */
export const layer: Layer.Layer<Notifier, never, PgClient.PgClient | Shared> = Layer.effect(
  Notifier,
  Effect.gen(function* () {
    const pg = yield* PgClient.PgClient
    const shared = yield* Shared
    // Identifies this process, which ignores its own notifications.
    const self = randomBytes(6).toString("base64url")
    const signals = {
      invoices: yield* Queue.sliding<void>(1),
      lanes: yield* Queue.sliding<void>(1),
      deliveries: yield* Queue.sliding<void>(1)
    }
    const outbox = yield* Queue.unbounded<void>()
    const unsent = new Set<WorkQueue | Announcement>()
    // The partitions that the unsent notification of deliveries is for; `undefined` if it is for all.
    let unsentPartitions: ReadonlySet<string> | undefined = new Set()
    const enqueue = (word: WorkQueue | Announcement) => {
      if (!shared || unsent.has(word)) return
      unsent.add(word)
      Queue.offerUnsafe(outbox, undefined)
    }

    const awake = new Set<WorkQueue>()

    const recheck = (kind: WorkQueue) => void Queue.offerUnsafe(signals[kind], undefined)
    const signal = (kind: WorkQueue) => {
      awake.add(kind)
      recheck(kind)
    }

    const send = Queue.takeAll(outbox).pipe(
      Effect.flatMap(() => {
        if (unsent.size === 0) return Effect.void
        const payload = WorkerGroup.notification(self, unsent, unsentPartitions)
        unsent.clear()
        unsentPartitions = new Set()
        return Effect.ignore(QueryTimeout.withTimeout(QueryTimeout.engineMs)(pg.notify(channel, payload)))
      }),
      Effect.andThen(Effect.sleep(spacing)),
      Effect.forever
    )

    let group = WorkerGroup.alone(self)
    let announced: Announcement | undefined
    let announcedAt = -Infinity
    let echoedAt = -Infinity
    // One that waits to be sent must not arrive with or after its opposite.
    const withdraw = () => announcements.forEach((word) => unsent.delete(word))
    const announce = (announcement: Announcement) => {
      announced = announcement
      announcedAt = performance.now()
      // `join` includes `here`.
      if (announcement === "here" && unsent.has("join")) return
      withdraw()
      enqueue(announcement)
    }
    const isMember = () => announced !== undefined && announced !== "left"
    const ownPartitions = () => WorkerGroup.ownPartitions(group, performance.now())
    const concernsThisWorker = (partitions: Iterable<string> | undefined) => {
      const own = ownPartitions()
      return own === undefined || partitions === undefined || [...partitions].some((one) => own.includes(one))
    }

    const receive = (payload: string) =>
      Effect.sync(() => {
        const [sender = "", ...named] = payload.split(" ")
        if (sender === self) return void (echoedAt = performance.now())
        for (const kind of workQueues) {
          if (!named.includes(kind)) continue
          if (kind !== "deliveries" || concernsThisWorker(WorkerGroup.notifiedPartitions(named))) signal(kind)
        }
        if (named.includes("left")) {
          group = WorkerGroup.left(group, sender)
          // Due deliveries of its partitions are for the others now.
          signal("deliveries")
        }
        if (named.includes("here") || named.includes("join")) group = WorkerGroup.seen(group, sender, performance.now())
        if (named.includes("join") && isMember()) announce("here")
      })

    const listen = Effect.scoped(
      Effect.gen(function* () {
        const notifications = yield* pg.listen(channel)
        // Notifications may have been missed before.
        workQueues.forEach(signal)
        if (isMember()) announce("join")
        yield* Stream.fromQueue(notifications).pipe(Stream.runForEach(({ payload }) => receive(payload)))
      })
    ).pipe(Effect.andThen(Effect.fail("closed")), Effect.retry(reconnect), Effect.ignore)

    if (shared) {
      yield* Effect.forkScoped(send)
      yield* Effect.forkScoped(listen)
    }

    return {
      wake: (kind, organizations) =>
        Effect.sync(() => {
          const partitions = organizations?.map(WorkerGroup.partitionOf)
          if (kind === "deliveries" && unsentPartitions !== undefined) {
            unsentPartitions = partitions && new Set([...unsentPartitions, ...partitions])
          }
          if (concernsThisWorker(partitions)) signal(kind)
          enqueue(kind)
        }),
      wakeLocal: (kind) => Effect.sync(() => signal(kind)),
      recheck: (kind) => Effect.sync(() => recheck(kind)),
      wait: (kind, milliseconds) =>
        Effect.map(Effect.timeoutOption(Queue.take(signals[kind]), Duration.millis(Math.max(0, milliseconds))), () =>
          awake.delete(kind)
        ),
      join: Effect.fnUntraced(function* (canClaim) {
        if (!shared) return
        announce("join")
        const keepAnnounced = Effect.sync(() => {
          const isDue = performance.now() - announcedAt >= WorkerGroup.announceEveryMs
          if (!canClaim()) return isMember() ? announce("left") : undefined
          if (!isMember()) announce("join")
          else if (isDue) announce("here")
        })
        yield* Effect.addFinalizer(() => {
          announced = undefined
          withdraw()
          return Effect.ignore(Effect.timeout(pg.notify(channel, `${self} left`), leaveWithin))
        })
        yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(checkEvery), keepAnnounced)))
      }),
      pollIntervalMs: () =>
        !shared || performance.now() - echoedAt < WorkerGroup.memberTimeoutMs ? restfulPollMs : pollMs,
      ownPartitions
    }
  })
)
