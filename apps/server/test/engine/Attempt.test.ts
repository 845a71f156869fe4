import { assert, describe, it } from "@effect/vitest"
import { DispatcherError, type Outcome } from "@govoice/dispatcher"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import * as Attempt from "../../src/engine/Attempt.ts"
import type { ClaimedDelivery, Settlement } from "../../src/engine/DeliveryQueue.ts"
import { KeyRing } from "../../src/security/KeyRing.ts"
import * as Fake from "./support/FakeDispatcher.ts"
import * as Plant from "./support/Plant.ts"
import * as TestSettings from "./support/TestSettings.ts"

const now = Date.UTC(2026, 10, 20, 10, 0, 0, 7)
const nowText = "2026-11-20T10:00:00.007Z"
const endpointId = "we_01kakd3zz0e5ksv2c8f4n6q9rt"

const seal = (secret: string) => Plant.keyRing.seal(secret, { column: "webhook_endpoints.secret", row: endpointId })

const delivery = (changes: Partial<ClaimedDelivery> = {}): ClaimedDelivery => ({
  id: "wd_01kakd3zz0e5ksv2c8f4n6q9rt",
  organization_id: "org_01kakd3zz0e5ksv2c8f4n6q9rt",
  endpoint_id: endpointId,
  event_id: "evt_01kakd3zz0e5ksv2c8f4n6q9rt",
  event_type: "invoice.accepted",
  invoice_id: "inv_01kakd3zz0e5ksv2c8f4n6q9rt",
  claims: 4,
  attempt_count: 1,
  last_attempted_at: null,
  ready_since: new Date(now - 1000),
  taken_over: false,
  body: '{"id":"evt_01kakd3zz0e5ksv2c8f4n6q9rt","note":"żółć"}',
  trace: null,
  url: "https://example.com/hook?a=b",
  endpoint_usable: true,
  secret: seal(Plant.secret),
  next_secret: null,
  next_secret_at: null,
  ...changes
})

const attempt = Effect.fnUntraced(function* (given: ClaimedDelivery, answer: Effect.Effect<Outcome>) {
  yield* TestClock.setTime(now)
  const dispatcher = Fake.make(() => Effect.andThen(TestClock.adjust(20), answer))
  const perform = yield* Effect.provide(
    Attempt.make,
    Layer.mergeAll(dispatcher.layer, Layer.succeed(KeyRing)(Plant.keyRing), TestSettings.layer())
  )
  const settlement = yield* perform(given)
  return { settlement, requests: dispatcher.requests }
})

const base: Omit<Settlement, "status"> = {
  id: "wd_01kakd3zz0e5ksv2c8f4n6q9rt",
  organization_id: "org_01kakd3zz0e5ksv2c8f4n6q9rt",
  endpoint_id: endpointId,
  event_id: "evt_01kakd3zz0e5ksv2c8f4n6q9rt",
  claims: 4,
  attempt_count: 1,
  last_attempted_at: nowText,
  last_http_status: null,
  last_error_summary: null,
  next_retry_at: null,
  delivered_at: null,
  updated_at: "2026-11-20T10:00:00.027Z"
}

const isRetryWithin = ({ next_retry_at }: Settlement, fromMs: number, toMs: number): void => {
  const wait = Date.parse(next_retry_at!) - (now + 20)
  assert.isAtLeast(wait, fromMs)
  assert.isAtMost(wait, toMs)
}

describe("Attempt", () => {
  it.effect("sends the stored bytes with the headers of the contract", () =>
    Effect.gen(function* () {
      const { requests } = yield* attempt(delivery(), Effect.succeed(Fake.delivered))
      const given = delivery()
      const signature = createHmac("sha256", Plant.secret).update(`${nowText}.${given.body}`).digest("hex")
      assert.deepStrictEqual(requests, [
        {
          url: given.url,
          body: given.body,
          deadlineMs: 10_000,
          headers: {
            "content-type": "application/json",
            "gov-event-id": given.event_id,
            "gov-timestamp": nowText,
            "gov-signature": `v1=${signature}`,
            "user-agent": "Govoice-Webhooks/0.0.0"
          }
        }
      ])
    })
  )

  it.effect("records a success with the times of its attempt and of its answer", () =>
    Effect.gen(function* () {
      const { settlement } = yield* attempt(delivery(), Effect.succeed(Fake.delivered))
      assert.deepStrictEqual(settlement, {
        ...base,
        status: "succeeded",
        last_http_status: 204,
        delivered_at: "2026-11-20T10:00:00.027Z"
      })
    })
  )

  const final: ReadonlyArray<readonly [what: string, outcome: Outcome, changes: Partial<Settlement>]> = [
    ["a redirect", Fake.refused(302), { last_http_status: 302, last_error_summary: "The endpoint returned HTTP 302." }],
    ["a refusal", Fake.refused(404), { last_http_status: 404, last_error_summary: "The endpoint returned HTTP 404." }],
    [
      "a target that is not allowed",
      Fake.blocked,
      { last_error_summary: "The endpoint address is not allowed.", attempt_count: 0, last_attempted_at: null }
    ]
  ]
  for (const [what, outcome, changes] of final) {
    it.effect(`gives up at once after ${what}`, () =>
      Effect.gen(function* () {
        const { settlement } = yield* attempt(delivery(), Effect.succeed(outcome))
        assert.deepStrictEqual(settlement, { ...base, status: "failed", ...changes })
      })
    )
  }

  const passing: ReadonlyArray<readonly [what: string, outcome: Outcome, status: number | null, summary: string]> = [
    ["429", Fake.refused(429), 429, "The endpoint returned HTTP 429."],
    ["500", Fake.refused(500), 500, "The endpoint returned HTTP 500."],
    ["599", Fake.refused(599), 599, "The endpoint returned HTTP 599."],
    ["a deadline that passed after the request was sent", Fake.failed("timeout"), null, "The request timed out."],
    ["a deadline that passed before", Fake.failed("timeout", false), null, "The connection failed."],
    ["a name that is not found", Fake.failed("dns", false), null, "The connection failed."],
    ["a connection that is refused", Fake.failed("connect", false), null, "The connection failed."],
    ["a bad certificate", Fake.failed("tls", false), null, "The connection failed."],
    ["a connection that is cut", Fake.failed("reset"), null, "The connection failed."],
    ["an answer that is not HTTP", Fake.failed("protocol"), null, "The connection failed."]
  ]
  for (const [what, outcome, status, summary] of passing) {
    it.effect(`tries again after ${what}`, () =>
      Effect.gen(function* () {
        const { settlement } = yield* attempt(delivery(), Effect.succeed(outcome))
        isRetryWithin(settlement, 4000, 6000)
        assert.deepStrictEqual(settlement, {
          ...base,
          status: "retrying",
          next_retry_at: settlement.next_retry_at,
          last_http_status: status,
          last_error_summary: summary
        })
      })
    )
  }

  it.effect("counts a failure of the sender as an attempt, and tries again", () =>
    Effect.gen(function* () {
      const { settlement } = yield* attempt(delivery(), Effect.die(new Error("out of sockets")))
      assert.include(settlement, {
        status: "retrying",
        attempt_count: 1,
        last_http_status: null,
        last_error_summary: "The connection failed."
      })
    })
  )

  it.effect("waits longer after every attempt, as the schedule says, and fails after the last", () =>
    Effect.gen(function* () {
      const waits = [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000]
      for (const [index, wait] of waits.entries()) {
        const given = delivery({ attempt_count: index + 1 })
        const { settlement } = yield* attempt(given, Effect.succeed(Fake.refused(503)))
        assert.strictEqual(settlement.status, "retrying")
        isRetryWithin(settlement, wait * 0.8, wait * 1.2)
      }
      const { settlement } = yield* attempt(delivery({ attempt_count: 8 }), Effect.succeed(Fake.refused(503)))
      assert.deepStrictEqual(settlement, {
        ...base,
        status: "failed",
        attempt_count: 8,
        last_http_status: 503,
        last_error_summary: "The endpoint returned HTTP 503."
      })
    })
  )

  it.effect("lets Retry-After lengthen a wait after 429 and 503, up to six hours, and nowhere else", () =>
    Effect.gen(function* () {
      const wait = Effect.fnUntraced(function* (outcome: Outcome) {
        const { settlement } = yield* attempt(delivery(), Effect.succeed(outcome))
        return Date.parse(settlement.next_retry_at!) - (now + 20)
      })
      assert.strictEqual(yield* wait(Fake.refused(429, 60_000)), 60_000)
      assert.strictEqual(yield* wait(Fake.refused(503, 60_000)), 60_000)
      assert.strictEqual(yield* wait(Fake.refused(503, 86_400_000)), 21_600_000)
      assert.isAtLeast(yield* wait(Fake.refused(503, 10)), 4000)
      assert.isAtMost(yield* wait(Fake.refused(500, 60_000)), 6000)
    })
  )

  it.effect("sends nothing to an endpoint that is disabled or deleted, and keeps what was attempted before", () =>
    Effect.gen(function* () {
      const first = yield* attempt(delivery({ endpoint_usable: false }), Effect.succeed(Fake.delivered))
      assert.deepStrictEqual(first.requests, [])
      assert.deepStrictEqual(first.settlement, {
        ...base,
        status: "endpoint_disabled",
        attempt_count: 0,
        last_attempted_at: null,
        last_error_summary: "The endpoint was disabled or deleted.",
        updated_at: nowText
      })
      const later = delivery({
        endpoint_usable: false,
        attempt_count: 4,
        last_attempted_at: new Date("2026-11-20T09:00:00.000Z")
      })
      const { settlement } = yield* attempt(later, Effect.succeed(Fake.delivered))
      assert.include(settlement, {
        status: "endpoint_disabled",
        attempt_count: 3,
        last_attempted_at: "2026-11-20T09:00:00.000Z"
      })
    })
  )

  it.effect("signs with the old secret until the very moment the new one becomes active", () =>
    Effect.gen(function* () {
      const fresh = "whsec_fresh000000000000000000000000000000000"
      const signedWith = Effect.fnUntraced(function* (activatesAt: number) {
        const given = delivery({ next_secret: seal(fresh), next_secret_at: new Date(activatesAt) })
        const { requests } = yield* attempt(given, Effect.succeed(Fake.delivered))
        return [Plant.secret, fresh].find(
          (secret) =>
            requests[0]!.headers!["gov-signature"] ===
            `v1=${createHmac("sha256", secret).update(`${nowText}.${given.body}`).digest("hex")}`
        )
      })
      assert.strictEqual(yield* signedWith(now + 1), Plant.secret)
      assert.strictEqual(yield* signedWith(now), fresh)
      assert.strictEqual(yield* signedWith(now - 1), fresh)
    })
  )

  it.effect("fails without a request when the secret cannot be opened", () =>
    Effect.gen(function* () {
      const elsewhere = Plant.keyRing.seal(Plant.secret, { column: "webhook_endpoints.secret", row: "we_other" })
      const { requests, settlement } = yield* attempt(delivery({ secret: elsewhere }), Effect.succeed(Fake.delivered))
      assert.deepStrictEqual(requests, [])
      assert.deepStrictEqual(settlement, {
        ...base,
        status: "failed",
        attempt_count: 0,
        last_attempted_at: null,
        last_error_summary: "The request could not be prepared.",
        updated_at: nowText
      })
    })
  )

  it.effect("fails when the request is one that must not be sent", () =>
    Effect.gen(function* () {
      const refusal = new DispatcherError("invalid_request", "A header has a line break")
      const { settlement } = yield* attempt(delivery(), Effect.die(refusal))
      assert.include(settlement, {
        status: "failed",
        attempt_count: 0,
        last_error_summary: "The request could not be prepared."
      })
    })
  )

  it.effect("attempts again what a lost worker had begun, unless that was the last attempt", () =>
    Effect.gen(function* () {
      const before = new Date("2026-11-20T09:59:00.000Z")
      const again = delivery({ taken_over: true, attempt_count: 8, last_attempted_at: before })
      const { requests } = yield* attempt(again, Effect.succeed(Fake.delivered))
      assert.strictEqual(requests.length, 1)

      const last = delivery({ taken_over: true, attempt_count: 9, last_attempted_at: before })
      const interrupted = yield* attempt(last, Effect.succeed(Fake.delivered))
      assert.deepStrictEqual(interrupted.requests, [])
      assert.deepStrictEqual(interrupted.settlement, {
        ...base,
        status: "failed",
        attempt_count: 8,
        last_attempted_at: "2026-11-20T09:59:00.000Z",
        last_error_summary: "The attempt was interrupted.",
        updated_at: nowText
      })
    })
  )
})
