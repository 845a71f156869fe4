import { assert, describe, it } from "@effect/vitest"
import type { Outcome } from "@govoice/dispatcher"
import { Effect, Logger, References } from "effect"
import * as ReceiverLog from "../../src/deliveries/ReceiverLog.ts"
import * as Fake from "../support/FakeDispatcher.ts"

const refused = Fake.failed("connect", false)
const answered = (status: number): Outcome => (status === 204 ? Fake.delivered : Fake.refused(status))

const recorded = Effect.fnUntraced(function* (outcomes: ReadonlyArray<readonly [url: string, outcome: Outcome]>) {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ fiber, logLevel, message }) => {
    const { failures, host, reason } = fiber.getRef(References.CurrentLogAnnotations)
    lines.push(
      [logLevel, Array.isArray(message) ? message[0] : message, host, failures, reason].map(String).join(" | ")
    )
  })
  const { record } = ReceiverLog.make()
  yield* Effect.forEach(outcomes, ([url, outcome]) => record(url, outcome, "why")).pipe(
    Effect.provide(Logger.layer([logger]))
  )
  return lines
})

const repeat = <A>(count: number, value: A): ReadonlyArray<A> => Array.from({ length: count }, () => value)

describe("ReceiverLog", () => {
  it.effect("logs one warning and one line for a host, whatever the number of endpoints and attempts", () =>
    Effect.gen(function* () {
      const down = [
        ["https://shop.example.com/a?token=1", refused],
        ["https://shop.example.com/b", Fake.failed("timeout")],
        ["https://shop.example.com/a", answered(503)]
      ] as const
      const lines = yield* recorded([
        ["https://shop.example.com/a", answered(204)],
        ...repeat(100, down).flat(),
        ["https://other.example.com/a", answered(204)],
        ["https://shop.example.com/b", answered(204)],
        ["https://shop.example.com/b", answered(204)]
      ])
      assert.deepStrictEqual(lines, [
        "Warn | Receiver unavailable; its deliveries are retried | shop.example.com | 1 | why",
        "Info | Receiver available again | shop.example.com | 300 | undefined"
      ])
    })
  )

  it.effect("logs nothing about a host that refuses single requests", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* recorded([404, 410, 429].map((status) => ["https://shop.example.com/a", answered(status)])),
        []
      )
    })
  )

  it.effect("remembers as many hosts as it may, and forgets the one that failed the longest time ago", () =>
    Effect.gen(function* () {
      const urls = Array.from({ length: ReceiverLog.maxHosts + 1 }, (_, n) => `https://h${n}.example.com/`)
      const lines = yield* recorded([
        ...urls.map((url) => [url, refused] as const),
        ...urls.map((url) => [url, answered(204)] as const)
      ])
      const recoveries = lines.filter((line) => line.startsWith("Info"))
      assert.lengthOf(recoveries, ReceiverLog.maxHosts)
      assert.isFalse(recoveries.some((line) => line.includes("h0.example.com")))
    })
  )
})
