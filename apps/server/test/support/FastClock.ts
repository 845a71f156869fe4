/**
 * A clock that passes over the time in which nothing happens, so that hours of waits take seconds.
 *
 * Time flows as ever while something reads the clock, as calls and statements do. Once nothing has for a few milliseconds, the
 * clock advances to the next sleep that ends. It does not advance while the database executes a statement.
 */
import { PgClient } from "@effect/sql-pg"
import { type Clock, Duration, Effect, type Scope } from "effect"

const idleMs = 5

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** A clock, the same as a function for a simulator, and the client of the database for all that runs by the clock. */
export interface FastClock {
  readonly clock: Clock.Clock
  readonly now: () => number
  readonly client: PgClient.PgClient
}

/** The client, and how many of its connections wait for notifications. Each deployment has one that does, all the time. */
const countListening = (client: PgClient.PgClient) => {
  let listening = 0
  const one = Effect.acquireRelease(
    Effect.sync(() => listening++),
    () => Effect.sync(() => listening--)
  )
  const listen: PgClient.PgClient["listen"] = (channel) => Effect.tap(client.listen(channel), () => one)
  return {
    client: new Proxy(client, { get: (of, name) => (name === "listen" ? listen : Reflect.get(of, name)) as unknown }),
    listening: () => listening
  }
}

/** Starts a clock that ends with the scope. Sleeps that end within `grainMs` of each other end together. */
export const make = Effect.fnUntraced(function* (
  grainMs: number
): Effect.fn.Return<FastClock, never, PgClient.PgClient | Scope.Scope> {
  const { client, listening } = countListening(yield* PgClient.PgClient)
  const isBusy = () => Effect.runSync(client.poolStats!).used > listening()
  const sleepers = new Set<Sleeper>()
  const startedAt = performance.now()
  const base = Date.now()
  let skippedMs = 0
  let activeAt = startedAt

  const read = () => base + skippedMs + (performance.now() - startedAt)
  const now = () => {
    activeAt = performance.now()
    return Math.floor(read())
  }

  const tick = () => {
    const next = Math.min(...Array.from(sleepers, ({ at }) => at))
    const isIdle = !isBusy() && performance.now() - activeAt >= idleMs
    if (isIdle && Number.isFinite(next)) skippedMs += Math.max(0, next + grainMs - read())
    const current = read()
    for (const sleeper of [...sleepers].filter(({ at }) => at <= current).sort((a, b) => a.at - b.at)) {
      sleepers.delete(sleeper)
      activeAt = performance.now()
      sleeper.wake()
    }
  }
  const timer = setInterval(tick, 1)
  yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(timer)))

  const nanos = () => BigInt(now()) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => {
      const milliseconds = Duration.toMillis(duration)
      if (milliseconds <= 0) return Effect.yieldNow
      if (!Number.isFinite(milliseconds)) return Effect.never
      return Effect.callback<void>((resume) => {
        const sleeper = { at: now() + milliseconds, wake: () => resume(Effect.void) }
        sleepers.add(sleeper)
        return Effect.sync(() => sleepers.delete(sleeper))
      })
    }
  }
  return { clock, client, now }
})

/** Sleeps in real time, which is for tests that wait for something. */
export const realSleep = (milliseconds: number): Effect.Effect<void> =>
  Effect.promise(() => new Promise((resolve) => setTimeout(resolve, milliseconds)))
