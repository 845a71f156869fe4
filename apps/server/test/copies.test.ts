/**
 * Compares the copies of a fact that several packages need and none may import from another: packages for others stand alone,
 * and the page in the browser imports the client only.
 */
import { ContextIdentifier, Nip } from "@govoice/ksef/format"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { bySummary } from "../../console/src/screens/deliveries/whatToDo.ts"
import { isNip } from "../../console/src/screens/live/context.ts"
import * as Fields from "../../../packages/api/src/Fields.ts"
import * as AttemptOutcome from "../src/deliveries/AttemptOutcome.ts"
import * as Fake from "./support/FakeDispatcher.ts"

describe("NIP: the check of the API, of the console and of KSeF's format", () => {
  const isContext = Schema.is(Fields.context)
  const isInApi = (value: string) => isContext({ type: "Nip", value })
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

describe("Contexts: the check of the API and of KSeF's format", () => {
  const isInApi = Schema.is(Fields.context)

  it("is the same for internal identifiers", () => {
    const corpus = Array.from({ length: 20_000 }, (_, index) => `5265877635-${String(index * 5).padStart(5, "0")}`)
    const contexts = [...corpus, "5265877636-12346", "5265877635-1234", "5265877635"].map((value) => ({
      type: "InternalId" as const,
      value
    }))
    const valid = contexts.filter(isInApi)
    assert.lengthOf(valid, 2000)
    assert.deepStrictEqual(contexts.filter(ContextIdentifier.isValid), valid)
  })

  it("is the same for VAT numbers of the EU", () => {
    const countries = "AT BE BG CY CZ DE DK EE EL ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK XI GR GB".split(
      " "
    )
    const numbers = [
      "U12345678",
      "A2345678",
      "A234567B",
      "12345678A",
      "1234567AB",
      "1A34567B",
      "AB123456789",
      "GD123",
      "+*"
    ]
    const digits = Array.from({ length: 15 }, (_, index) => "0123456789012345".slice(0, index))
    const contexts = countries
      .flatMap((country) => [...numbers, ...digits, "AB12345678+*"].map((number) => `5265877635-${country}${number}`))
      .map((value) => ({ type: "NipVatUe" as const, value }))
    const valid = contexts.filter(isInApi)
    assert.strictEqual(new Set(valid.map(({ value }) => value.slice(11, 13))).size, countries.length - 3)
    assert.deepStrictEqual(contexts.filter(ContextIdentifier.isValid), valid)
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
