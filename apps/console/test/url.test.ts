/**
 * Addresses: what is written can be read again, and what cannot be read is dropped and named.
 */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { knownEventTypes } from "../src/text/events.ts"
import { isId, kindOf, shorten, timeOf } from "../src/url/ids.ts"
import { metadataOf, namesOf } from "../src/url/invoiceNames.ts"
import {
  deliverySearch,
  healthSearch,
  invoiceSearch,
  knownDeliveryStatuses,
  knownInvoiceStatuses
} from "../src/url/searches.ts"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz".split("")
const idOf = (prefix: string) =>
  fc
    .array(fc.constantFrom(...alphabet), { minLength: 26, maxLength: 26 })
    .map((digits) => `${prefix}_${digits.join("")}`)

const minute = fc
  .date({ min: new Date("2020-01-01T00:00Z"), max: new Date("2040-01-01T00:00Z"), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 16)}Z`)

const maybe = <A>(values: fc.Arbitrary<A>) => fc.option(values, { nil: undefined })
const words = (max: number) => fc.string({ minLength: 1, maxLength: max, unit: "grapheme-ascii" })

interface Codec<A> {
  readonly read: (search: string) => { readonly value: A; readonly dropped: ReadonlyArray<string> }
  readonly write: (value: A) => string
}

/** The laws of the codec of every screen. */
const lawsOf = <A>(name: string, { read, write }: Codec<A>, values: fc.Arbitrary<A>) => ({
  name,
  everyStateSurvives: () =>
    fc.assert(
      fc.property(values, (value) => {
        assert.deepStrictEqual(read(write(value)), { value, dropped: [] })
      })
    ),
  noTextFails: () => {
    assert.strictEqual(write(read("").value), "")
    fc.assert(
      fc.property(fc.webQueryParameters(), (search) => {
        const { value } = read(search)
        assert.deepStrictEqual(read(write(value)).value, value)
      })
    )
  }
})

const searches = [
  lawsOf(
    "deliveries",
    deliverySearch,
    fc.record({
      status: maybe(fc.constantFrom(...knownDeliveryStatuses)),
      endpoint: maybe(idOf("we")),
      type: maybe(fc.constantFrom(...knownEventTypes)),
      event: maybe(idOf("evt")),
      invoice: maybe(idOf("inv")),
      from: maybe(minute),
      to: maybe(minute),
      cursor: maybe(words(400)),
      in: maybe(fc.constant("endpoint" as const))
    })
  ),
  lawsOf(
    "invoices",
    invoiceSearch,
    fc
      .record({
        status: maybe(fc.constantFrom(...knownInvoiceStatuses)),
        mode: maybe(fc.constantFrom("test" as const, "live" as const)),
        from: maybe(minute),
        to: maybe(minute),
        number: maybe(words(1000)),
        official: maybe(words(100)),
        buyer: maybe(words(100)),
        seller: maybe(words(100)),
        metadata: maybe(words(100).map((text) => `order=${text}`)),
        key: maybe(words(255)),
        cursor: maybe(words(400))
      })
      // A key has a mode.
      .map((value) => ({ ...value, mode: value.mode ?? (value.key === undefined ? undefined : ("test" as const)) }))
  ),
  lawsOf(
    "health",
    healthSearch,
    fc.record({
      window: fc.constantFrom("24h" as const, "7d" as const),
      as: fc.constantFrom("bars" as const, "table" as const)
    })
  )
]

describe("the search of an address", () => {
  it.each(searches)("of $name is read back unchanged for every state", ({ everyStateSurvives }) => {
    everyStateSurvives()
  })

  it.each(searches)(
    "of $name is read from any text without an error, and is written without defaults",
    ({ noTextFails }) => {
      noTextFails()
    }
  )

  it("drops parameters that cannot be read, and returns their names", () => {
    const { dropped, value } = deliverySearch.read("status=lost&endpoint=we_1&from=yesterday&type=invoice.accepted&x=1")
    assert.sameMembers([...dropped], ["status", "endpoint", "from", "x"])
    assert.strictEqual(value.type, "invoice.accepted")
    assert.isUndefined(value.status)
  })

  it("has the mode test for an idempotency key without a mode", () => {
    assert.strictEqual(invoiceSearch.read("key=order-1").value.mode, "test")
    assert.strictEqual(invoiceSearch.read("key=order-1&mode=live").value.mode, "live")
    assert.isUndefined(invoiceSearch.read("status=failed").value.mode)
  })

  it("is written with unescaped times", () => {
    const search = { ...deliverySearch.read("").value, status: "failed" as const, from: "2026-11-21T00:00Z" }
    assert.strictEqual(deliverySearch.write(search), "?status=failed&from=2026-11-21T00:00Z")
  })
})

describe("what a person knows of an invoice", () => {
  it.each([
    ["FV/2026/11/0042", "number"],
    ["5265877635-20261120-0A1B2C3D4E5F-43", "official"],
    ["5260250274", "buyer"],
    ["order=4711", "metadata"],
    ["order=", "number"],
    ["=4711", "number"]
  ])("%s is most likely the %s", (text, name) => {
    assert.strictEqual(namesOf(text)[0], name)
  })

  it("has all that a text may be", () => {
    assert.includeMembers([...namesOf("5260250274")], ["buyer", "seller", "number", "key"])
    assert.deepStrictEqual(metadataOf("order=a=b"), { order: "a=b" })
  })
})

describe("identifiers", () => {
  it("have a kind, a time and a short form", () => {
    const id = "inv_01m7q5cqg0e6786ptds43fm4k3"
    assert.strictEqual(kindOf(id), "inv")
    assert.isTrue(isId("inv", id))
    assert.strictEqual(shorten(id), "inv_01m7q5…m4k3")
    assert.strictEqual(new Date(timeOf(id)!).getUTCFullYear(), 2026)
  })

  it("are distinguished from other texts", () => {
    for (const text of ["", "inv_", "inv_01m7q5cqg0e6786ptds43fm4kU", "x_01m7q5cqg0e6786ptds43fm4k3", "../login"])
      assert.isUndefined(kindOf(text), text)
  })
})
