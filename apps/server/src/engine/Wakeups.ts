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
import { Shared } from "../database/Database.ts"

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
    /** Waits until somebody wakes this kind, or as long as given, in milliseconds. */
    readonly wait: (kind: Kind, milliseconds: number) => Effect.Effect<void>
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
    const signals = {
      invoices: yield* Queue.sliding<void>(1),
      deliveries: yield* Queue.sliding<void>(1)
    }
    const outbox = { invoices: yield* Queue.sliding<void>(1), deliveries: yield* Queue.sliding<void>(1) }

    const signal = (kind: Kind) => Effect.sync(() => void Queue.offerUnsafe(signals[kind], undefined))

    const announce = (kind: Kind) =>
      Queue.take(outbox[kind]).pipe(
        Effect.andThen(Effect.ignore(pg.notify(channel, kind))),
        Effect.andThen(Effect.sleep(spacing)),
        Effect.forever
      )

    const listen = Effect.scoped(
      Effect.gen(function* () {
        const notifications = yield* pg.listen(channel)
        // Something may have been missed while nobody listened.
        yield* Effect.forEach(kinds, signal)
        yield* Stream.fromQueue(notifications).pipe(
          Stream.runForEach(({ payload }) =>
            Effect.forEach(kinds.filter((kind) => kind === payload), signal, { discard: true })
          )
        )
      })
    ).pipe(Effect.andThen(Effect.fail("closed")), Effect.retry(reconnect), Effect.ignore)

    if (shared) {
      yield* Effect.forEach(kinds, (kind) => Effect.forkScoped(announce(kind)))
      yield* Effect.forkScoped(listen)
    }

    return {
      wake: (kind) =>
        Effect.sync(() => {
          Queue.offerUnsafe(signals[kind], undefined)
          if (shared) Queue.offerUnsafe(outbox[kind], undefined)
        }),
      wait: (kind, milliseconds) =>
        Effect.asVoid(Effect.timeoutOption(Queue.take(signals[kind]), Duration.millis(Math.max(0, milliseconds))))
    }
  })
)
