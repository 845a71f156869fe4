import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as Outage from "../../src/observability/Outage.ts"

const recorded = <E, R>(run: (outage: Outage.Outage) => Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ message }) => {
      lines.push(String(Array.isArray(message) ? message[0] : message))
    })
    yield* run(Outage.make({ away: "away", back: "back" })).pipe(Effect.provide(Logger.layer([logger])))
    return lines
  })

describe("Outage", () => {
  it.effect("is told when it begins, every ten seconds while it lasts, and when it ends", () =>
    Effect.gen(function* () {
      const lines = yield* recorded(({ met, missed }) =>
        Effect.gen(function* () {
          yield* met
          for (let second = 0; second < 25; second++) {
            yield* Effect.replicateEffect(missed("why"), 100, { discard: true })
            yield* TestClock.adjust("1 second")
          }
          yield* Effect.replicateEffect(met, 100, { discard: true })
        })
      )
      assert.deepStrictEqual(lines, ["away", "away", "away", "back"])
    })
  )

  it.effect("is told twice in ten seconds at most, also when it comes and goes", () =>
    Effect.gen(function* () {
      const lines = yield* recorded(({ met, missed }) =>
        Effect.replicateEffect(Effect.andThen(missed("why"), met), 1000, { discard: true })
      )
      assert.deepStrictEqual(lines, ["away", "back"])
    })
  )
})
