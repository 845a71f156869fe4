import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { InvoiceEvent, InvoiceState } from "../src/index.ts"
import { acceptedEvent, acceptedInvoice, invoices } from "./records.ts"
import { thorough } from "./arbitraries.ts"

const { EventType, isSubscribed } = InvoiceEvent
const decode = Schema.decodeUnknownSync(InvoiceEvent.InvoiceEvent)
const decodeExactly = Schema.decodeUnknownSync(InvoiceEvent.InvoiceEvent, { onExcessProperty: "error" })
const encode = Schema.encodeSync(InvoiceEvent.InvoiceEvent)

describe("InvoiceEvent", () => {
  it("has six types: arrival, hand-over, acceptance, receipt, refusal, failure", () => {
    assert.deepStrictEqual(EventType.literals, [
      "invoice.received",
      "invoice.submitted",
      "invoice.accepted",
      "invoice.upo_available",
      "invoice.rejected",
      "invoice.failed"
    ])
  })

  it("emits each type on exactly one occasion", () => {
    const occasions = [InvoiceState.emittedOnArrival, ...Object.values(InvoiceState.emits)].filter(
      (type) => type !== null
    )
    assert.deepStrictEqual([...occasions].sort(), [...EventType.literals].sort())
  })

  it("has the members of the contract, in their order", () => {
    assert.deepStrictEqual(Object.keys(InvoiceEvent.InvoiceEvent.fields), [
      "id",
      "object",
      "type",
      "mode",
      "created_at",
      "data"
    ])
    assert.deepStrictEqual(Object.keys(InvoiceEvent.InvoiceEvent.fields.data.fields), ["invoice"])
  })

  it.each(EventType.literals)("takes a realistic %s, and writes it back as it was", (type) => {
    for (const invoice of invoices) {
      const event = { ...acceptedEvent, type, mode: invoice.mode, data: { invoice } }
      assert.strictEqual(JSON.stringify(encode(decodeExactly(event))), JSON.stringify(event))
    }
  })

  it.each(Object.keys(acceptedEvent))("cannot do without %s", (member) => {
    const { [member]: _, ...rest } = acceptedEvent as Record<string, unknown>
    assert.throws(() => decode(rest))
  })

  it("cannot do without any member of its invoice", () => {
    for (const member of Object.keys(acceptedInvoice)) {
      const { [member]: _, ...rest } = acceptedInvoice as Record<string, unknown>
      assert.throws(() => decode({ ...acceptedEvent, data: { invoice: rest } }))
    }
  })

  it.each<[what: string, event: unknown]>([
    ["a member of the event", { ...acceptedEvent, attempt: 1 }],
    ["a member of data", { ...acceptedEvent, data: { ...acceptedEvent.data, previous: null } }],
    ["a member of the invoice", { ...acceptedEvent, data: { invoice: { ...acceptedInvoice, invoice_xml: "<a/>" } } }]
  ])("has no room for %s that it does not know", (_, event) => {
    assert.throws(() => decodeExactly(event))
    assert.strictEqual(Object.keys(decode(event)).length, 6)
  })

  it.each<[member: string, value: unknown]>([
    ["id", "wd_01m7q5cqg0e6786ptds43fm4k3"],
    ["object", "invoice"],
    ["type", "invoice.paid"],
    ["type", "*"],
    ["mode", "sandbox"],
    ["created_at", "yesterday"],
    ["data", null],
    ["data", {}],
    ["data", { invoice: null }],
    ["data", acceptedInvoice]
  ])("refuses %s = %j", (member, value) => {
    assert.throws(() => decode({ ...acceptedEvent, [member]: value }))
  })

  it.prop(
    "survives JSON",
    [InvoiceEvent.InvoiceEvent],
    ([event]) => {
      const there: unknown = JSON.parse(JSON.stringify(encode(event)))
      assert.deepStrictEqual(decodeExactly(there), event)
    },
    thorough
  )

  describe("isSubscribed", () => {
    it.prop(
      "hears of what is listed, and of everything for *",
      [Schema.Array(Schema.Union([EventType, Schema.Literals(["*", "invoice.*", "invoice", ""])])), EventType],
      ([subscriptions, type]) => {
        assert.strictEqual(
          isSubscribed(subscriptions, type),
          subscriptions.some((subscription) => subscription === type || subscription === "*")
        )
      },
      thorough
    )

    it("hears of nothing when nothing is listed", () => {
      assert.deepStrictEqual(
        EventType.literals.filter((type) => isSubscribed([], type)),
        []
      )
    })

    it("knows no other patterns than the star alone", () => {
      assert.deepStrictEqual(
        EventType.literals.filter((type) => isSubscribed(["invoice.*", "invoice", "**"], type)),
        []
      )
    })
  })
})
