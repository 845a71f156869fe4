import { assert, describe, it } from "@effect/vitest"
import { DeliveryState } from "@govoice/core"
import { Result } from "effect"
import {
  type AttemptOutcome,
  labelOf,
  type NotSent,
  sentenceOf,
  triggerOf
} from "../../src/deliveries/AttemptOutcome.ts"
import * as Fake from "../support/FakeDispatcher.ts"

const notSent = (reason: NotSent["reason"]): NotSent => ({ _tag: "NotSent", reason })

type Row = readonly [outcome: AttemptOutcome, more: string, last: string, label: string, sentence: string | null]

const rows: ReadonlyArray<Row> = [
  [Fake.delivered, "succeed", "succeed", "2xx", null],
  [Fake.refused(302), "fail", "fail", "3xx", "The endpoint returned HTTP 302."],
  [Fake.refused(404), "fail", "fail", "4xx", "The endpoint returned HTTP 404."],
  [Fake.refused(429), "retry", "fail", "429", "The endpoint returned HTTP 429."],
  [Fake.refused(503), "retry", "fail", "5xx", "The endpoint returned HTTP 503."],
  [Fake.failed("timeout"), "retry", "fail", "failed_timeout", "The request timed out."],
  // Where the request was not sent, the sentence tells nothing of the network.
  [Fake.failed("timeout", false), "retry", "fail", "failed_timeout", "The connection failed."],
  [Fake.failed("dns", false), "retry", "fail", "failed_dns", "The connection failed."],
  [Fake.failed("reset"), "retry", "fail", "failed_reset", "The connection failed."],
  [Fake.blocked, "block", "block", "blocked", "The endpoint address is not allowed."],
  [notSent("endpoint_disabled"), "disable", "disable", "endpoint_disabled", "The endpoint was disabled or deleted."],
  [
    notSent("secret_unavailable"),
    "retry",
    "retry",
    "secret_unavailable",
    "The signing secret is temporarily unavailable."
  ],
  [
    notSent("lease_too_short"),
    "retry",
    "retry",
    "lease_too_short",
    "The request was postponed because the sender was overloaded."
  ],
  [
    notSent("process_unavailable"),
    "retry",
    "retry",
    "process_unavailable",
    "The request was postponed because the sender could not start a process for it."
  ],
  [notSent("invalid_request"), "fail", "fail", "invalid_request", "The request could not be prepared."],
  [
    notSent("sender_failed"),
    "retry",
    "fail",
    "sender_failed",
    "The request could not be sent because of a fault of the sender."
  ]
]

describe("AttemptOutcome", () => {
  it.each(rows)("%o: %s while attempts remain, %s after the last", (outcome, more, last, label, sentence) => {
    assert.strictEqual(triggerOf(outcome, true), more)
    assert.strictEqual(triggerOf(outcome, false), last)
    assert.strictEqual(sentenceOf(outcome), sentence)
    assert.strictEqual(labelOf(outcome), label)
    for (const attemptsRemain of [true, false]) {
      assert.isTrue(Result.isSuccess(DeliveryState.next("delivering", triggerOf(outcome, attemptsRemain))))
    }
  })
})
