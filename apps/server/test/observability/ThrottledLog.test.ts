import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import * as ThrottledLog from "../../src/observability/ThrottledLog.ts"

const recorded = <E, R>(
  run: (log: ThrottledLog.ThrottledLog) => Effect.Effect<void, E, R>,
  options: Partial<ThrottledLog.ThrottledLogOptions> = {}
) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ fiber, message }) => {
      const { failures, reason } = fiber.getRef(References.CurrentLogAnnotations)
      lines.push(`${String(Array.isArray(message) ? message[0] : message)} ${String(failures)} ${String(reason)}`)
    })
    yield* run(ThrottledLog.make({ down: "down", recovered: "recovered", ...options })).pipe(
      Effect.provide(Logger.layer([logger]))
    )
    return lines
  })

describe("ThrottledLog", () => {
  it.effect("logs the beginning, the count every 30 seconds, and the end of an outage", () =>
    Effect.gen(function* () {
      const lines = yield* recorded(({ failure, success }) =>
        Effect.gen(function* () {
          yield* success
          for (let second = 0; second < 70; second++) {
            yield* Effect.replicateEffect(failure("refused"), 100, { discard: true })
            yield* TestClock.adjust("1 second")
          }
          yield* Effect.replicateEffect(success, 100, { discard: true })
        })
      )
      assert.deepStrictEqual(lines, [
        "down 1 refused",
        "down 3001 refused",
        "down 6001 refused",
        "recovered 7000 undefined"
      ])
    })
  )

  it.effect("logs the beginning and the end alone where it does not repeat", () =>
    Effect.gen(function* () {
      const lines = yield* recorded(
        ({ failure, success }) =>
          Effect.gen(function* () {
            for (const seconds of [70, 10]) {
              yield* Effect.replicateEffect(Effect.andThen(failure("refused"), TestClock.adjust("1 second")), seconds)
              yield* success
            }
          }),
        { repeats: false }
      )
      assert.deepStrictEqual(lines, [
        "down 1 refused",
        "recovered 70 undefined",
        "down 1 refused",
        "recovered 10 undefined"
      ])
    })
  )

  it.effect("logs at most two lines in 30 seconds when failures and successes alternate", () =>
    Effect.gen(function* () {
      const lines = yield* recorded(({ failure, success }) =>
        Effect.replicateEffect(Effect.andThen(failure("refused"), success), 1000, { discard: true })
      )
      assert.deepStrictEqual(lines, ["down 1 refused", "recovered 1 undefined"])
    })
  )
})
