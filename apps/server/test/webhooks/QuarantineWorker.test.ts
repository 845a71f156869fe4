import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { KeyRing } from "../../src/crypto/KeyRing.ts"
import type { Completion } from "../../src/webhooks/Completion.ts"
import { DeliveryQueue } from "../../src/webhooks/DeliveryQueue.ts"
import { type QuarantinedDelivery, QuarantineQueue } from "../../src/webhooks/QuarantineQueue.ts"
import * as QuarantineWorker from "../../src/webhooks/QuarantineWorker.ts"
import { claimOf, delivery } from "../support/completions.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

const quarantined: QuarantinedDelivery = {
  ...delivery(1),
  interruption_count: 2,
  quarantine_interruption_count: 0,
  secret: fixtures.keyRing.seal(fixtures.secret, {
    column: "webhook_endpoints.secret",
    row: delivery(1).endpoint_id
  })
}

/** Runs the worker on one delivery, whose claim takes this long. */
const process = Effect.fnUntraced(function* (claimMs: number) {
  const leases: Array<number> = []
  const completions: Array<Completion> = []
  const dispatcher = Fake.make(() => Effect.succeed(Fake.delivered))
  const queues = Layer.mergeAll(
    Layer.succeed(QuarantineQueue)({
      claim: ({ leaseMs }) =>
        Effect.suspend(() =>
          leases.push(leaseMs) === 1 ? Effect.delay(Effect.succeed(quarantined), claimMs) : Effect.succeed(undefined)
        )
    }),
    Layer.succeed(DeliveryQueue)({
      claim: () => Effect.succeed(claimOf(0)),
      complete: (written) =>
        Effect.sync(() => {
          completions.push(...written)
          return written.map(({ id }) => id)
        })
    })
  )
  yield* Layer.build(
    QuarantineWorker.layer.pipe(
      Layer.provide([queues, dispatcher.layer, Layer.succeed(KeyRing)(fixtures.keyRing), TestSettings.layer()])
    )
  )
  yield* TestClock.adjust(claimMs + 1)
  return { completions, leases, requests: dispatcher.requests }
})

describe("QuarantineWorker", () => {
  // The lease is 30 s, and 10 s more for the start of the process; a request takes up to 10 s and its completion 1 s.
  it.effect("sends after a claim that leaves enough of the lease for the start of the process and the request", () =>
    Effect.gen(function* () {
      const { completions, leases, requests } = yield* process(19_000)
      assert.strictEqual(leases[0], 40_000)
      assert.strictEqual(requests.length, 1)
      assert.deepInclude(completions[0], { id: "wd_1", status: "succeeded", attempt_count: 1 })
    })
  )

  it.effect("postpones a delivery without counting an attempt after a claim that leaves less", () =>
    Effect.gen(function* () {
      const { completions, requests } = yield* process(19_001)
      assert.deepStrictEqual(requests, [])
      assert.deepInclude(completions[0], {
        id: "wd_1",
        status: "retrying",
        attempt_count: 0,
        last_error_summary: "The request was postponed because the sender was overloaded."
      })
    })
  )
})
