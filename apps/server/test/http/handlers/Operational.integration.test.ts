/** The readiness probe, and the statements that it costs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Tracer } from "effect"
import { HttpRouter } from "effect/http"
import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import * as KeyRing from "../../../src/crypto/KeyRing.ts"
import * as Operational from "../../../src/http/handlers/Operational.ts"
import * as RequestLifecycle from "../../../src/http/middleware/RequestLifecycle.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"
import * as TestSettings from "../../support/TestSettings.ts"

// Counts the spans of statements.
const makeCounter = () => {
  const counter = { statements: 0 }
  const tracer = Tracer.make({
    span: (options) => {
      if (options.kind === "client") counter.statements += 1
      return new Tracer.NativeSpan(options)
    }
  })
  return { counter, layer: Layer.succeed(Tracer.Tracer)(tracer) }
}

describe("/readyz", () => {
  it.live("runs one check for all probes of a second", () =>
    Effect.gen(function* () {
      const { counter, layer } = makeCounter()
      const keys = KeyRing.layer([{ id: "k1", bytes: new Uint8Array(randomBytes(32)) }])
      const { dispose, handler } = HttpRouter.toWebHandler(
        Operational.layer.pipe(
          Layer.provide(RequestLifecycle.layer),
          Layer.provide([keys, layerPostgres, TestSettings.layer({})]),
          Layer.provideMerge(layer)
        ),
        { disableLogger: true }
      )
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const probe = async () =>
        (await handler(new Request("http://localhost/readyz", { headers: { host: "x" } }))).status
      const costOf = async (probes: number): Promise<number> => {
        const before = counter.statements
        const statuses = await Promise.all(Array.from({ length: probes }, probe))
        assert.deepStrictEqual([...new Set(statuses)], [200])
        return counter.statements - before
      }
      const cost = yield* Effect.promise(async () => {
        // The first also migrates the database, which can take longer than a probe waits.
        for (const deadline = Date.now() + 50_000; (await probe()) !== 200 && Date.now() < deadline;) await sleep(200)
        await sleep(1100)
        const ofOne = await costOf(1)
        assert.isAbove(ofOne, 0)
        await sleep(1100)
        return { ofOne, ofMany: await costOf(100) }
      })
      // On a busy machine, the probes take several seconds.
      assert.isAtMost(cost.ofMany, 20 * cost.ofOne)
    })
  )
})
