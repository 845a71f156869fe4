import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { DeliveryState, DeliveryVerdict } from "../src/index.ts"
import { thorough } from "./arbitraries.ts"

const { judge } = DeliveryVerdict

const HttpStatus = Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 }))

describe("DeliveryVerdict", () => {
  describe("judge", () => {
    it.each<[result: DeliveryVerdict.AttemptResult, more: string, last: string, summary: string | null]>([
      [{ _tag: "answered", status: 200 }, "succeed", "succeed", null],
      [{ _tag: "answered", status: 204 }, "succeed", "succeed", null],
      [{ _tag: "answered", status: 299 }, "succeed", "succeed", null],
      [{ _tag: "answered", status: 199 }, "fail", "fail", "The endpoint returned HTTP 199."],
      [{ _tag: "answered", status: 300 }, "fail", "fail", "The endpoint returned HTTP 300."],
      [{ _tag: "answered", status: 301 }, "fail", "fail", "The endpoint returned HTTP 301."],
      [{ _tag: "answered", status: 399 }, "fail", "fail", "The endpoint returned HTTP 399."],
      [{ _tag: "answered", status: 400 }, "fail", "fail", "The endpoint returned HTTP 400."],
      [{ _tag: "answered", status: 408 }, "fail", "fail", "The endpoint returned HTTP 408."],
      [{ _tag: "answered", status: 410 }, "fail", "fail", "The endpoint returned HTTP 410."],
      [{ _tag: "answered", status: 428 }, "fail", "fail", "The endpoint returned HTTP 428."],
      [{ _tag: "answered", status: 429 }, "retry", "fail", "The endpoint returned HTTP 429."],
      [{ _tag: "answered", status: 430 }, "fail", "fail", "The endpoint returned HTTP 430."],
      [{ _tag: "answered", status: 499 }, "fail", "fail", "The endpoint returned HTTP 499."],
      [{ _tag: "answered", status: 500 }, "retry", "fail", "The endpoint returned HTTP 500."],
      [{ _tag: "answered", status: 501 }, "retry", "fail", "The endpoint returned HTTP 501."],
      [{ _tag: "answered", status: 503 }, "retry", "fail", "The endpoint returned HTTP 503."],
      [{ _tag: "answered", status: 599 }, "retry", "fail", "The endpoint returned HTTP 599."],
      [{ _tag: "answered", status: 600 }, "fail", "fail", "The endpoint returned HTTP 600."],
      [{ _tag: "timed_out" }, "retry", "fail", "The request timed out."],
      [{ _tag: "connection_failed" }, "retry", "fail", "The connection failed."],
      [{ _tag: "interrupted" }, "retry", "fail", "The attempt was interrupted."],
      [
        { _tag: "quarantine_failed" },
        "fail",
        "fail",
        "The delivery was stopped because sending it repeatedly interrupted the sender."
      ],
      [{ _tag: "secret_unavailable" }, "retry", "retry", "The signing secret is temporarily unavailable."],
      [{ _tag: "lease_too_short" }, "retry", "retry", "The request was postponed because the sender was overloaded."],
      [{ _tag: "blocked" }, "block", "block", "The endpoint address is not allowed."],
      [{ _tag: "disabled" }, "disable", "disable", "The endpoint was disabled or deleted."],
      [{ _tag: "invalid_request" }, "fail", "fail", "The request could not be prepared."]
    ])("%o: %s while attempts remain, %s after the last", (result, more, last, summary) => {
      assert.deepStrictEqual<object>(judge(result, true), { trigger: more, summary })
      assert.deepStrictEqual<object>(judge(result, false), { trigger: last, summary })
    })

    it.prop(
      "retries 429 and 5xx, succeeds on 2xx, and fails on every other status",
      [HttpStatus, Schema.Boolean],
      ([status, attemptsRemain]) => {
        const family = String(status).charAt(0)
        const expected =
          family === "2" ? "succeed" : attemptsRemain && (family === "5" || status === 429) ? "retry" : "fail"
        assert.strictEqual(judge({ _tag: "answered", status }, attemptsRemain).trigger, expected)
      },
      thorough
    )

    it.prop(
      "returns a summary for each failure and for no success",
      [HttpStatus, Schema.Boolean],
      ([status, attemptsRemain]) => {
        const { summary, trigger } = judge({ _tag: "answered", status }, attemptsRemain)
        assert.strictEqual(summary === null, trigger === "succeed")
      },
      thorough
    )

    it("returns only triggers that are legal in status delivering", () => {
      const results: ReadonlyArray<DeliveryVerdict.AttemptResult> = [
        ...[200, 302, 404, 429, 500].map((status) => ({ _tag: "answered" as const, status })),
        { _tag: "timed_out" },
        { _tag: "connection_failed" },
        { _tag: "interrupted" },
        { _tag: "quarantine_failed" },
        { _tag: "secret_unavailable" },
        { _tag: "lease_too_short" },
        { _tag: "blocked" },
        { _tag: "disabled" },
        { _tag: "invalid_request" }
      ]
      for (const result of results) {
        for (const attemptsRemain of [true, false]) {
          assert.isTrue(Result.isSuccess(DeliveryState.next("delivering", judge(result, attemptsRemain).trigger)))
        }
      }
    })
  })

  describe("isRetryableStatus", () => {
    it("is true for 429 and every 5xx", () => {
      const retryable = Array.from({ length: 900 }, (_, index) => index + 100).filter(DeliveryVerdict.isRetryableStatus)
      assert.deepStrictEqual(retryable, [429, ...Array.from({ length: 100 }, (_, index) => 500 + index)])
    })
  })
})
