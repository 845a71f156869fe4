/**
 * Tells workers that there may be something to do, so that they need not keep asking.
 *
 * A wake-up is a hint: workers look for due work now and then anyway, so one that is lost costs a moment and nothing
 * else. In this process it is a signal; processes that share a database hear of each other through LISTEN and NOTIFY.
 *
 * @since 0.1.0
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Queue, Schedule, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { Shared } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"

/**
 * What may be due.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "invoices" | "deliveries"

const kinds: ReadonlyArray<Kind> = ["invoices", "deliveries"]

/**
 * Service that wakes workers and lets them wait.
 *
 * @category services
 * @since 0.1.0
 */
export class Wakeups extends Context.Service<
  Wakeups,
  {
    /** Wakes the workers of this kind, here and elsewhere. Never waits and never fails. */
    readonly wake: (kind: Kind) => Effect.Effect<void>
    /** Wakes the worker of this kind in this process alone. */
    readonly wakeHere: (kind: Kind) => Effect.Effect<void>
    /** Ends the wait of this kind in this process, to wait for another time: there is nothing to do yet. */
    readonly nudge: (kind: Kind) => Effect.Effect<void>
    /** Waits until somebody wakes or nudges this kind, or as long as given, in milliseconds. Says whether it was woken. */
    readonly wait: (kind: Kind, milliseconds: number) => Effect.Effect<boolean>
  }
>()("@govoice/server/engine/Wakeups") {}

const channel = "govoice_wakeups"

// Under load one notification stands for many: NOTIFY takes a lock that every commit with one has to wait for.
const spacing = Duration.millis(5)

const reconnect = Schedule.spaced("1 second")

/**
 * Layer that provides `Wakeups`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Wakeups, never, PgClient.PgClient | Shared> = Layer.effect(
  Wakeups,
  Effect.gen(function* () {
    const pg = yield* PgClient.PgClient
    const shared = yield* Shared
    // A process has woken itself already when it hears its own notification.
    const self = randomBytes(6).toString("base64url")
    const signals = { invoices: yield* Queue.sliding<void>(1), deliveries: yield* Queue.sliding<void>(1) }
    const outbox = yield* Queue.unbounded<Kind>()
    const unannounced = new Set<Kind>()

    const awake = new Set<Kind>()

    const nudge = (kind: Kind) => void Queue.offerUnsafe(signals[kind], undefined)
    const signal = (kind: Kind) => {
      awake.add(kind)
      nudge(kind)
    }

    const announce = Queue.takeAll(outbox).pipe(
      Effect.flatMap(() => {
        const payload = [self, ...unannounced].join(" ")
        unannounced.clear()
        return Effect.ignore(Patience.bounded(Patience.engineMs)(pg.notify(channel, payload)))
      }),
      Effect.andThen(Effect.sleep(spacing)),
      Effect.forever
    )

    const hear = (payload: string) =>
      Effect.sync(() => {
        const [sender, ...named] = payload.split(" ")
        if (sender !== self) for (const kind of kinds) if (named.includes(kind)) signal(kind)
      })

    const listen = Effect.scoped(
      Effect.gen(function* () {
        const notifications = yield* pg.listen(channel)
        // Something may have been missed while nobody listened.
        kinds.forEach(signal)
        yield* Stream.fromQueue(notifications).pipe(Stream.runForEach(({ payload }) => hear(payload)))
      })
    ).pipe(Effect.andThen(Effect.fail("closed")), Effect.retry(reconnect), Effect.ignore)

    if (shared) {
      yield* Effect.forkScoped(announce)
      yield* Effect.forkScoped(listen)
    }

    return {
      wake: (kind) =>
        Effect.sync(() => {
          signal(kind)
          if (!shared || unannounced.has(kind)) return
          unannounced.add(kind)
          Queue.offerUnsafe(outbox, kind)
        }),
      wakeHere: (kind) => Effect.sync(() => signal(kind)),
      nudge: (kind) => Effect.sync(() => nudge(kind)),
      wait: (kind, milliseconds) =>
        Effect.map(Effect.timeoutOption(Queue.take(signals[kind]), Duration.millis(Math.max(0, milliseconds))), () =>
          awake.delete(kind)
        )
    }
  })
)
