/**
 * Notifies workers of new work, so that they need not poll often.
 *
 * A notification is a hint: workers poll anyway, so a lost one causes a short delay. Within a process it is a signal;
 * processes that share a database use LISTEN and NOTIFY.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Queue, Schedule, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { Shared } from "../database/Database.ts"
import * as OutageLog from "../database/OutageLog.ts"
import { type WorkQueue, workQueues } from "../observability/EngineMetrics.ts"
import * as ThrottledLog from "../observability/ThrottledLog.ts"

/** Service that notifies workers and lets them wait. */
export class Notifier extends Context.Service<
  Notifier,
  {
    /** Wakes the workers of this kind in all processes. Returns at once and never fails. */
    readonly wake: (kind: WorkQueue) => Effect.Effect<void>
    /** Ends the wait of the worker in this process without waking it: it computes anew when to continue. */
    readonly recheck: (kind: WorkQueue) => Effect.Effect<void>
    /** Waits for a wake or recheck, or for as many milliseconds. Returns whether it was woken. */
    readonly wait: (kind: WorkQueue, milliseconds: number) => Effect.Effect<boolean>
  }
>()("@govoice/server/jobs/Notifier") {}

const channel = "govoice_notifications"

// Coalesces notifications under load: NOTIFY takes a lock that serializes commits.
const spacing = Duration.millis(5)

/** How long a worker that has nothing to do sleeps at most, in milliseconds: a lost notification delays work by as much. */
export const pollIntervalMs = 1000

const reconnect = Schedule.spaced("1 second")

// After so many failures in a row, and unless the database itself is unavailable, which has its own lines.
const shownAfter = 5

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
    const unsent = new Set<WorkQueue>()

    const awake = new Set<WorkQueue>()

    const recheck = (kind: WorkQueue) => void Queue.offerUnsafe(signals[kind], undefined)
    const signal = (kind: WorkQueue) => {
      awake.add(kind)
      recheck(kind)
    }

    const send = Queue.takeAll(outbox).pipe(
      Effect.flatMap(() => {
        if (unsent.size === 0) return Effect.void
        const payload = [self, ...unsent].join(" ")
        unsent.clear()
        return Effect.ignore(pg.notify(channel, payload))
      }),
      Effect.andThen(Effect.sleep(spacing)),
      Effect.forever
    )

    const receive = (payload: string) =>
      Effect.sync(() => {
        const [sender = "", ...named] = payload.split(" ")
        if (sender === self) return
        for (const kind of workQueues) if (named.includes(kind)) signal(kind)
      })

    const log = ThrottledLog.make({
      down: "Notifications of other processes unavailable; workers look for work every second",
      recovered: "Notifications of other processes available again"
    })
    let failures = 0
    const onFailure = (error: unknown) =>
      Effect.flatMap(OutageLog.OutageLog, ({ outage }) =>
        ++failures >= shownAfter && outage() === undefined ? log.failure(error) : Effect.void
      )

    const listen = Effect.scoped(
      Effect.gen(function* () {
        const notifications = yield* pg.listen(channel)
        failures = 0
        yield* log.success
        // Notifications may have been missed before.
        workQueues.forEach(signal)
        yield* Stream.fromQueue(notifications).pipe(Stream.runForEach(({ payload }) => receive(payload)))
      })
    ).pipe(
      Effect.andThen(Effect.fail("The connection was closed.")),
      Effect.tapError(onFailure),
      Effect.retry(reconnect),
      Effect.ignore
    )

    if (shared) {
      yield* Effect.forkScoped(send)
      yield* Effect.forkScoped(listen)
    }

    return {
      wake: (kind) =>
        Effect.sync(() => {
          signal(kind)
          if (!shared || unsent.has(kind)) return
          unsent.add(kind)
          Queue.offerUnsafe(outbox, undefined)
        }),
      recheck: (kind) => Effect.sync(() => recheck(kind)),
      wait: (kind, milliseconds) =>
        Effect.map(Effect.timeoutOption(Queue.take(signals[kind]), Duration.millis(Math.max(0, milliseconds))), () =>
          awake.delete(kind)
        )
    }
  })
)
