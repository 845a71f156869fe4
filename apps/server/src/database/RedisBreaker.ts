/**
 * The circuit breaker of the calls to Redis: while Redis does not answer, callers do not wait for it.
 *
 * A call that times out opens the breaker. Local alternatives then take the place of the calls, except for a probe every
 * second, and a call that succeeds closes the breaker. A Redis that refuses costs no time, so other errors do not open it.
 */
import { Cause, Clock, Context, Effect, Layer } from "effect"
import * as ThrottledLog from "../observability/ThrottledLog.ts"

/** How long a call waits for Redis, in milliseconds. */
export const timeoutMs = 250

/** How long after a call that timed out the next one is made. Longer than a call waits, so one probe is made at a time. */
export const probeEveryMs = 1000

/** Makes calls to the Redis of a deployment, and logs its outages. */
export class RedisBreaker extends Context.Service<
  RedisBreaker,
  {
    /** Runs the call, or the local alternative if the call fails, does not answer with numbers, or the breaker is open. */
    readonly orElse: <A extends number | ReadonlyArray<number>, E, B>(
      call: Effect.Effect<A, E>,
      local: Effect.Effect<B>
    ) => Effect.Effect<A | B>
  }
>()("@govoice/server/database/RedisBreaker") {}

const isNumeric = (answer: number | ReadonlyArray<number>): boolean => [answer].flat().every(Number.isFinite)

const nextTurn = Effect.callback<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

// While the event loop is held, a call is not written and an answer not read. So the time begins after the turn that writes the call, and
// ends in a turn that has read what arrived. Otherwise a busy process takes itself for a Redis that is down.
const silence = nextTurn.pipe(
  Effect.andThen(nextTurn),
  Effect.andThen(Effect.sleep(timeoutMs)),
  Effect.andThen(nextTurn),
  Effect.andThen(Effect.fail(new Cause.TimeoutError(`No answer within ${timeoutMs} ms.`)))
)

/** Makes a breaker. */
export const make = (): RedisBreaker["Service"] => {
  const log = ThrottledLog.make({
    down: "Redis unavailable; each process counts its own limits",
    recovered: "Redis available again",
    repeats: false
  })
  // While it is open: when the next probe is made, by the monotonic clock.
  let nextProbeMs: number | undefined

  return {
    orElse: (call, local) =>
      Clock.clockWith((clock) => {
        const nowMs = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
        const waitForProbe = () => void (nextProbeMs = nowMs() + probeEveryMs)
        if (nextProbeMs !== undefined) {
          if (nowMs() < nextProbeMs) return local
          waitForProbe()
        }
        return call.pipe(
          Effect.filterOrFail(isNumeric, () => new Error("Redis did not answer with numbers.")),
          Effect.catchDefect(Effect.fail),
          Effect.raceFirst(silence),
          Effect.tap(() => {
            nextProbeMs = undefined
            return log.success
          }),
          Effect.catch((error) => {
            if (Cause.isTimeoutError(error)) waitForProbe()
            return Effect.andThen(log.failure(error), local)
          })
        )
      })
  }
}

/** Provides a breaker. */
export const layer: Layer.Layer<RedisBreaker> = Layer.sync(RedisBreaker)(make)
