import { assert, describe, it } from "@effect/vitest"
import { DispatcherError, type Outcome } from "@govoice/dispatcher"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import * as Attempt from "../../src/deliveries/Attempt.ts"
import type { ClaimedDelivery } from "../../src/deliveries/ClaimedDelivery.ts"
import type { Completion } from "../../src/deliveries/Completion.ts"
import { version } from "../../src/version.ts"
import * as EndpointHeaders from "../../src/deliveries/EndpointHeaders.ts"
import * as MonotonicTime from "../../src/observability/MonotonicTime.ts"
import * as KeyRing from "../../src/crypto/KeyRing.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

const now = Date.UTC(2026, 10, 20, 10, 0, 0, 7)
const nowText = "2026-11-20T10:00:00.007Z"
const endpointId = "we_01kakd3zz0e5ksv2c8f4n6q9rt"

const seal = (secret: string) => fixtures.keyRing.seal(secret, { column: "webhook_endpoints.secret", row: endpointId })

const delivery = (changes: Partial<ClaimedDelivery> = {}): ClaimedDelivery => ({
  id: "wd_01kakd3zz0e5ksv2c8f4n6q9rt",
  organization_id: "org_01kakd3zz0e5ksv2c8f4n6q9rt",
  endpoint_id: endpointId,
  event_id: "evt_01kakd3zz0e5ksv2c8f4n6q9rt",
  invoice_id: "inv_01kakd3zz0e5ksv2c8f4n6q9rt",
  fencing_token: 4,
  attempt_count: 1,
  last_attempted_at: null,
  available_at: new Date(now - 1000),
  body: '{"id":"evt_01kakd3zz0e5ksv2c8f4n6q9rt","note":"żółć"}',
  traceparent: null,
  url: "https://example.com/hook?a=b",
  endpoint_enabled: true,
  endpoint_slow: false,
  standard_webhooks: false,
  headers: null,
  secret: seal(fixtures.secret),
  next_secret: null,
  next_secret_at: null,
  ...changes
})

const attempt = Effect.fnUntraced(function* (
  given: ClaimedDelivery,
  answer: Effect.Effect<Outcome>,
  leftMs: number = Infinity
) {
  yield* TestClock.setTime(now)
  const dispatcher = Fake.make(() => Effect.andThen(TestClock.adjust(20), answer))
  const perform = yield* Effect.provide(
    Attempt.make,
    Layer.mergeAll(dispatcher.layer, Layer.succeed(KeyRing.KeyRing)(fixtures.keyRing), TestSettings.layer())
  )
  const completion = yield* perform(given, MonotonicTime.of(yield* Clock.Clock) + leftMs)
  return { completion, requests: dispatcher.requests }
})

const base: Omit<Completion, "status"> = {
  id: "wd_01kakd3zz0e5ksv2c8f4n6q9rt",
  organization_id: "org_01kakd3zz0e5ksv2c8f4n6q9rt",
  endpoint_id: endpointId,
  event_id: "evt_01kakd3zz0e5ksv2c8f4n6q9rt",
  fencing_token: 4,
  attempt_count: 1,
  pace: "steady",
  works: false,
  last_attempted_at: nowText,
  last_http_status: null,
  last_error_summary: null,
  next_retry_at: null,
  updated_at: "2026-11-20T10:00:00.027Z"
}

const isRetryWithin = ({ next_retry_at }: Completion, fromMs: number, toMs: number): void => {
  const wait = Date.parse(next_retry_at!) - (now + 20)
  assert.isAtLeast(wait, fromMs)
  assert.isAtMost(wait, toMs)
}

describe("Attempt", () => {
  it.effect("sends the stored bytes with the headers of the contract", () =>
    Effect.gen(function* () {
      const { requests } = yield* attempt(delivery(), Effect.succeed(Fake.delivered))
      const given = delivery()
      const signature = createHmac("sha256", fixtures.secret).update(`${nowText}.${given.body}`).digest("hex")
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
            "user-agent": `Govoice-Webhooks/${version}`
          }
        }
      ])
    })
  )

  it.effect("adds the headers of Standard Webhooks for an endpoint that asks for them", () =>
    Effect.gen(function* () {
      const { requests } = yield* attempt(delivery(), Effect.succeed(Fake.delivered))
      const standard = yield* attempt(delivery({ standard_webhooks: true }), Effect.succeed(Fake.delivered))
      const given = delivery()
      const key = Buffer.from(fixtures.secret.replace("whsec_", ""), "base64")
      const seconds = String(Math.floor(now / 1000))
      const mac = createHmac("sha256", key).update(`${given.event_id}.${seconds}.${given.body}`).digest("base64")
      assert.deepStrictEqual(standard.requests[0]!.headers, {
        ...requests[0]!.headers,
        "webhook-id": given.event_id,
        "webhook-timestamp": seconds,
        "webhook-signature": `v1,${mac}`
      })
    })
  )

  it.effect("sends the headers of the endpoint on every attempt, and lets none replace those of the contract", () =>
    Effect.gen(function* () {
      const headers = EndpointHeaders.seal(fixtures.keyRing, endpointId, {
        "X-Api-Key": "key of the gateway",
        "gov-event-id": "forged",
        "content-type": "text/plain"
      })
      const { requests: plain } = yield* attempt(delivery(), Effect.succeed(Fake.delivered))
      const { requests } = yield* attempt(delivery({ headers }), Effect.succeed(Fake.delivered))
      assert.deepStrictEqual(requests[0]!.headers, { ...plain[0]!.headers, "X-Api-Key": "key of the gateway" })
    })
  )

  it.effect("sends nothing while the headers of the endpoint cannot be decrypted", () =>
    Effect.gen(function* () {
      const other = KeyRing.make([{ id: "k9", bytes: new Uint8Array(32) }])
      const headers = EndpointHeaders.seal(other, endpointId, { "X-Api-Key": "key of the gateway" })
      const { completion, requests } = yield* attempt(delivery({ headers }), Effect.succeed(Fake.delivered))
      assert.deepStrictEqual(requests, [])
      assert.strictEqual(completion.last_error_summary, "The signing secret is temporarily unavailable.")
      assert.deepInclude(completion, { status: "retrying", attempt_count: 0 })
    })
  )

  it.effect("records a success with the times of its attempt and of its answer", () =>
    Effect.gen(function* () {
      const { completion } = yield* attempt(delivery(), Effect.succeed(Fake.delivered))
      assert.deepStrictEqual(completion, {
        ...base,
        status: "succeeded",
        works: true,
        last_http_status: 204
      })
    })
  )

  const final: ReadonlyArray<readonly [what: string, outcome: Outcome, changes: Partial<Completion>]> = [
    ["a redirect", Fake.refused(302), { last_http_status: 302, last_error_summary: "The endpoint returned HTTP 302." }],
    ["a refusal", Fake.refused(404), { last_http_status: 404, last_error_summary: "The endpoint returned HTTP 404." }],
    [
      "a target that is not allowed",
      Fake.blocked,
      {
        last_error_summary: "The endpoint address is not allowed.",
        attempt_count: 0,
        last_attempted_at: null,
        pace: null
      }
    ]
  ]
  for (const [what, outcome, changes] of final) {
    it.effect(`gives up at once after ${what}`, () =>
      Effect.gen(function* () {
        const { completion } = yield* attempt(delivery(), Effect.succeed(outcome))
        assert.deepStrictEqual(completion, { ...base, status: "failed", ...changes })
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
        const { completion } = yield* attempt(delivery(), Effect.succeed(outcome))
        isRetryWithin(completion, 4000, 6000)
        assert.deepStrictEqual(completion, {
          ...base,
          status: "retrying",
          pace: status === null ? "slow" : "steady",
          next_retry_at: completion.next_retry_at,
          last_http_status: status,
          last_error_summary: summary
        })
      })
    )
  }

  it.effect("counts a fault of the sender as an attempt, which says nothing about the endpoint, and tries again", () =>
    Effect.gen(function* () {
      const { completion } = yield* attempt(delivery(), Effect.die(new Error("out of sockets")))
      assert.include(completion, {
        status: "retrying",
        attempt_count: 1,
        pace: null,
        last_http_status: null,
        last_error_summary: "The request could not be sent because of a fault of the sender."
      })
    })
  )

  it.effect("waits longer after every attempt, as the schedule says, and fails after the last", () =>
    Effect.gen(function* () {
      const waits = [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000]
      for (const [index, wait] of waits.entries()) {
        const given = delivery({ attempt_count: index + 1 })
        const { completion } = yield* attempt(given, Effect.succeed(Fake.refused(503)))
        assert.strictEqual(completion.status, "retrying")
        isRetryWithin(completion, wait * 0.8, wait * 1.2)
      }
      const { completion } = yield* attempt(delivery({ attempt_count: 8 }), Effect.succeed(Fake.refused(503)))
      assert.deepStrictEqual(completion, {
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
        const { completion } = yield* attempt(delivery(), Effect.succeed(outcome))
        return Date.parse(completion.next_retry_at!) - (now + 20)
      })
      assert.strictEqual(yield* wait(Fake.refused(429, 60_000)), 60_000)
      assert.strictEqual(yield* wait(Fake.refused(503, 60_000)), 60_000)
      assert.strictEqual(yield* wait(Fake.refused(503, 86_400_000)), 21_600_000)
      assert.isAtLeast(yield* wait(Fake.refused(503, 10)), 4000)
    })
  )

  it.effect("sends nothing to an endpoint that is disabled or deleted, and keeps what was attempted before", () =>
    Effect.gen(function* () {
      const first = yield* attempt(delivery({ endpoint_enabled: false }), Effect.succeed(Fake.delivered))
      assert.deepStrictEqual(first.requests, [])
      assert.deepStrictEqual(first.completion, {
        ...base,
        status: "endpoint_disabled",
        pace: null,
        works: null,
        attempt_count: 0,
        last_attempted_at: null,
        last_error_summary: "The endpoint was disabled or deleted.",
        updated_at: nowText
      })
      const later = delivery({
        endpoint_enabled: false,
        attempt_count: 4,
        last_attempted_at: new Date("2026-11-20T09:00:00.000Z")
      })
      const { completion } = yield* attempt(later, Effect.succeed(Fake.delivered))
      assert.include(completion, {
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
        return [fixtures.secret, fresh].find(
          (secret) =>
            requests[0]!.headers!["gov-signature"] ===
            `v1=${createHmac("sha256", secret).update(`${nowText}.${given.body}`).digest("hex")}`
        )
      })
      assert.strictEqual(yield* signedWith(now + 1), fixtures.secret)
      assert.strictEqual(yield* signedWith(now), fresh)
      assert.strictEqual(yield* signedWith(now - 1), fresh)
    })
  )

  const foreign = KeyRing.make([{ id: "k1", bytes: new Uint8Array(32) }])
  const unopened: ReadonlyArray<readonly [what: string, sealed: Uint8Array]> = [
    [
      "the key is missing",
      KeyRing.make([{ id: "k2", bytes: new Uint8Array(32) }]).seal(fixtures.secret, {
        column: "webhook_endpoints.secret",
        row: endpointId
      })
    ],
    [
      "the key is another one under the same id",
      foreign.seal(fixtures.secret, { column: "webhook_endpoints.secret", row: endpointId })
    ],
    [
      "the secret is that of another row",
      fixtures.keyRing.seal(fixtures.secret, { column: "webhook_endpoints.secret", row: "we_other" })
    ]
  ]
  for (const [what, sealed] of unopened) {
    for (const attempts of [1, 8]) {
      it.effect(`attempt ${attempts}: is retried without being counted when ${what}`, () =>
        Effect.gen(function* () {
          const given = delivery({ secret: sealed, attempt_count: attempts })
          const { completion, requests } = yield* attempt(given, Effect.succeed(Fake.delivered))
          assert.deepStrictEqual(requests, [])
          const wait = Date.parse(completion.next_retry_at!) - now
          assert.isAtLeast(wait, 24_000)
          assert.isAtMost(wait, 36_000)
          assert.deepStrictEqual(completion, {
            ...base,
            status: "retrying",
            pace: null,
            works: null,
            attempt_count: attempts - 1,
            last_attempted_at: null,
            last_error_summary: "The signing secret is temporarily unavailable.",
            next_retry_at: completion.next_retry_at,
            updated_at: nowText
          })
        })
      )
    }
  }

  for (const attempts of [1, 8]) {
    it.effect(`attempt ${attempts}: is postponed without being counted when the lease could expire during it`, () =>
      Effect.gen(function* () {
        // The timeout is 10 s, and the completion needs another.
        const given = delivery({ attempt_count: attempts })
        const { completion, requests } = yield* attempt(given, Effect.succeed(Fake.delivered), 10_999)
        assert.deepStrictEqual(requests, [])
        const wait = Date.parse(completion.next_retry_at!) - now
        assert.isAtLeast(wait, 4000)
        assert.isAtMost(wait, 6000)
        assert.deepStrictEqual(completion, {
          ...base,
          status: "retrying",
          pace: null,
          works: null,
          attempt_count: attempts - 1,
          last_attempted_at: null,
          last_error_summary: "The request was postponed because the sender was overloaded.",
          next_retry_at: completion.next_retry_at,
          updated_at: nowText
        })
      })
    )
  }

  it.effect("is sent when the lease lasts for the timeout and the completion", () =>
    Effect.gen(function* () {
      const { completion, requests } = yield* attempt(delivery(), Effect.succeed(Fake.delivered), 11_000)
      assert.strictEqual(requests.length, 1)
      assert.strictEqual(completion.status, "succeeded")
    })
  )

  it.effect("ends a delivery to a disabled endpoint also when the lease is too short", () =>
    Effect.gen(function* () {
      const { completion } = yield* attempt(delivery({ endpoint_enabled: false }), Effect.succeed(Fake.delivered), 0)
      assert.strictEqual(completion.status, "endpoint_disabled")
    })
  )

  it.effect("fails without a request when the secret is none that signs", () =>
    Effect.gen(function* () {
      const { completion, requests } = yield* attempt(delivery({ secret: seal("") }), Effect.succeed(Fake.delivered))
      assert.deepStrictEqual(requests, [])
      assert.deepStrictEqual(completion, {
        ...base,
        status: "failed",
        pace: null,
        works: null,
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
      const { completion } = yield* attempt(delivery(), Effect.die(refusal))
      assert.include(completion, {
        status: "failed",
        attempt_count: 0,
        last_error_summary: "The request could not be prepared."
      })
    })
  )

  it.effect("makes the last attempt again after an interruption: it was not counted", () =>
    Effect.gen(function* () {
      const before = new Date("2026-11-20T09:59:00.000Z")
      const again = delivery({ attempt_count: 8, last_attempted_at: before })
      const { completion, requests } = yield* attempt(again, Effect.succeed(Fake.delivered))
      assert.strictEqual(requests.length, 1)
      assert.include(completion, { status: "succeeded", attempt_count: 8, last_attempted_at: nowText })
    })
  )
})
