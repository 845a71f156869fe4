/**
 * Compares the copies of a fact that several packages need and none may import from another: packages for others stand alone,
 * and the page in the browser imports the client only.
 */
import { Nip } from "@govoice/ksef/format"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { bySummary } from "../../console/src/screens/deliveries/whatToDo.ts"
import { isNip } from "../../console/src/screens/live/nip.ts"
import * as Fields from "../../../packages/api/src/Fields.ts"
import * as AttemptOutcome from "../src/deliveries/AttemptOutcome.ts"
import * as Fake from "./support/FakeDispatcher.ts"

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

describe("The sentences of attempts: the service and the advice of the console", () => {
  it("are the same", () => {
    const blocked = (["private", "url", "scheme", "userinfo"] as const).map((rule) => ({ ...Fake.blocked, rule }))
    const outcomes = [Fake.failed("timeout"), Fake.failed("connect"), ...blocked]
    const { endpoint_disabled: _, ...notSent } = AttemptOutcome.notSentSentences
    assert.sameMembers(Object.keys(bySummary), [
      ...outcomes.map(AttemptOutcome.sentenceOf),
      ...Object.values(notSent),
      AttemptOutcome.interrupted,
      AttemptOutcome.stopped
    ])
  })
})
