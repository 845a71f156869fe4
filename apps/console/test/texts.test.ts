/**
 * The languages of the page: the same keys, each with words, and dates, amounts and numbers as each writes them.
 */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { documentTexts } from "../src/text/document.ts"
import { en } from "../src/text/en.ts"
import { eventMeanings, knownEventTypes } from "../src/text/events.ts"
import { pl } from "../src/text/pl.ts"
import { DeliveryState, InvoiceEvent, InvoiceState } from "../../../packages/core/src/index.ts"
import { knownDeliveryStatuses, knownInvoiceStatuses } from "../src/url/searches.ts"

/** The paths of all texts below a value. */
const keysOf = (value: unknown, path = ""): ReadonlyArray<string> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, member]) => keysOf(member, `${path}.${key}`))
    : [`${path}: ${typeof value === "function" ? `function of ${value.length}` : typeof value}`]

const wordsOf = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(wordsOf)
      : []

describe("the languages of the console", () => {
  it("have the same keys", () => {
    assert.deepStrictEqual([...keysOf(pl)].sort(), [...keysOf(en)].sort())
    assert.deepStrictEqual([...keysOf(documentTexts.pl)].sort(), [...keysOf(documentTexts.en)].sort())
  })

  it("have words for every key, and no name of a member of the API in a sentence", () => {
    for (const texts of [en, pl, eventMeanings])
      for (const words of wordsOf(texts)) {
        assert.isNotEmpty(words.trim())
        assert.notMatch(words, /\b[a-z]+_[a-z_]+\b(?<!inv_|evt_|we_|wd_)/, words)
      }
  })

  it("import no code, which would wait for them in the script that loads them", () => {
    for (const language of ["en", "pl"])
      assert.notMatch(
        readFileSync(new URL(`../src/text/${language}.ts`, import.meta.url), "utf8"),
        /^import (?!type )/m
      )
  })

  it("have a word and a meaning for every status and event type", () => {
    assert.sameMembers([...knownEventTypes], [...InvoiceEvent.EventType.literals])
    assert.sameMembers([...knownInvoiceStatuses], [...InvoiceState.Status.literals])
    assert.sameMembers([...knownDeliveryStatuses], [...DeliveryState.Status.literals])
    for (const { meanings, status } of [en, pl]) {
      assert.sameMembers(Object.keys(status.invoice), [...knownInvoiceStatuses])
      assert.sameMembers(Object.keys(meanings.invoice), [...knownInvoiceStatuses])
      assert.sameMembers(Object.keys(status.delivery), [...knownDeliveryStatuses])
      assert.sameMembers(Object.keys(meanings.delivery), [...knownDeliveryStatuses])
    }
  })

  it("count in their own forms", () => {
    assert.deepStrictEqual([1, 2].map(en.endpoints.typeCount), ["1 type", "2 types"])
    assert.deepStrictEqual([1, 2, 5, 12, 22, 25].map(pl.endpoints.typeCount), [
      "1 rodzaj",
      "2 rodzaje",
      "5 rodzajów",
      "12 rodzajów",
      "22 rodzaje",
      "25 rodzajów"
    ])
    assert.strictEqual(pl.overview.failedDeliveries("1000+"), "1000+ webhooków nieudanych")
  })
})
