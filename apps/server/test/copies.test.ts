/**
 * Compares the copies of a fact that several packages need and none may import from another: packages for others stand alone,
 * and the page in the browser imports the client only.
 */
import { DeliveryVerdict } from "@govoice/core"
import { describe as describeOutcome, type FailureReason, type Outcome } from "@govoice/dispatcher"
import { Nip } from "@govoice/ksef/format"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { isNip } from "../../console/src/screens/live/nip.ts"
import * as Fields from "../../../packages/api/src/Fields.ts"
import { isRetryableStatus } from "../../../packages/dispatcher/src/internal/classify.ts"
import { toResult } from "../src/webhooks/Attempt.ts"

const statuses = Array.from({ length: 400 }, (_, index) => 200 + index)

describe("NIP: the check of the API, of the console and of KSeF's format", () => {
  const isInApi = Schema.is(Fields.nip)
  const weights = [6, 5, 7, 2, 3, 4, 5, 6, 7]
  // The first nine digits, spread over their range, each with the check digit and with the next digit.
  const numbers = Array.from({ length: 20_000 }, (_, index) =>
    String((index * 49_999_991) % 1_000_000_000).padStart(9, "0")
  ).flatMap((nine) => {
    const digit = weights.reduce((sum, weight, index) => sum + weight * Number(nine[index]), 0) % 11
    return [`${nine}${digit % 10}`, `${nine}${(digit + 1) % 10}`]
  })
  const malformed = ["", "526587763", "52658776350", "PL5265877635", "526-587-76-35", "5265877635\n", "٥٢٦٥٨٧٧٦٣٥"]

  it("is the same for the API and the console", () => {
    const corpus = [...numbers, ...malformed, Nip.absent]
    const valid = corpus.filter(isInApi)
    assert.isAbove(valid.length, 15_000)
    assert.isBelow(valid.length, 25_000)
    assert.deepStrictEqual(corpus.filter(isNip), valid)
  })

  it("is the same for KSeF, whose schemas exclude some tax office codes as well", () => {
    const isExcluded = (text: string) => text.startsWith("0") || text.slice(1, 3) === "00"
    const corpus = [...numbers, ...malformed, Nip.absent]
    assert.isAbove(corpus.filter((text) => isInApi(text) && isExcluded(text)).length, 1000)
    assert.deepStrictEqual(
      corpus.filter((text) => Nip.isValid(text)),
      corpus.filter((text) => isInApi(text) && !isExcluded(text))
    )
  })
})

describe("Attempts: the dispatcher and core", () => {
  it("have the same transient statuses", () => {
    assert.deepStrictEqual(statuses.filter(isRetryableStatus), statuses.filter(DeliveryVerdict.isRetryableStatus))
  })

  it("describe each failed outcome with the same sentence", () => {
    const reasons: Readonly<Record<FailureReason, true>> = {
      timeout: true,
      dns: true,
      connect: true,
      tls: true,
      reset: true,
      protocol: true
    }
    const outcomes: ReadonlyArray<Outcome> = [
      ...statuses
        .filter((status) => status >= 300)
        .map((status) => ({ _tag: "Refused", status, retryable: false, attempted: true, durationMs: 1 }) as const),
      ...(Object.keys(reasons) as Array<FailureReason>).flatMap((reason) =>
        [true, false].map(
          (attempted) => ({ _tag: "Failed", reason, retryable: true, attempted, durationMs: 1 }) as const
        )
      ),
      { _tag: "Blocked", rule: "private", retryable: false, attempted: false, durationMs: 1 }
    ]
    for (const outcome of outcomes) {
      assert.strictEqual(describeOutcome(outcome), DeliveryVerdict.judge(toResult(outcome), false).summary)
    }
  })
})
