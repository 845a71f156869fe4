import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { InvoiceEvent, InvoiceState } from "../src/index.ts"
import { acceptedEvent, acceptedInvoice, invoices } from "./records.ts"
import { thorough, throughJson } from "./arbitraries.ts"

const { EventType, isSubscribed } = InvoiceEvent
const decode = Schema.decodeUnknownSync(InvoiceEvent.InvoiceEvent)
const decodeExactly = Schema.decodeUnknownSync(InvoiceEvent.InvoiceEvent, { onExcessProperty: "error" })
const encode = Schema.encodeSync(InvoiceEvent.InvoiceEvent)

describe("InvoiceEvent", () => {
  it("has the six event types of the contract", () => {
    assert.deepStrictEqual(EventType.literals, [
      "invoice.received",
      "invoice.submitted",
      "invoice.accepted",
      "invoice.upo_available",
      "invoice.rejected",
      "invoice.failed"
    ])
  })

  it("emits each type by exactly one trigger or on creation", () => {
    const occasions = [InvoiceState.createdEvent, ...Object.values(InvoiceState.emits)].filter((type) => type !== null)
    assert.deepStrictEqual([...occasions].sort(), [...EventType.literals].sort())
  })

  it("has the members of the contract, in order", () => {
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

  it.each(EventType.literals)("decodes and encodes a realistic %s event without change", (type) => {
    for (const invoice of invoices) {
      const event = { ...acceptedEvent, type, mode: invoice.mode, data: { invoice } }
      assert.strictEqual(JSON.stringify(encode(decodeExactly(event))), JSON.stringify(event))
    }
  })

  it.each(Object.keys(acceptedEvent))("requires %s", (member) => {
    const { [member]: _, ...rest } = acceptedEvent as Record<string, unknown>
    assert.throws(() => decode(rest))
  })

  it("requires every member of its invoice", () => {
    for (const member of Object.keys(acceptedInvoice)) {
      const { [member]: _, ...rest } = acceptedInvoice as Record<string, unknown>
      assert.throws(() => decode({ ...acceptedEvent, data: { invoice: rest } }))
    }
  })

  it.each<[what: string, event: unknown]>([
    ["a member of the event", { ...acceptedEvent, attempt: 1 }],
    ["a member of data", { ...acceptedEvent, data: { ...acceptedEvent.data, previous: null } }],
    ["a member of the invoice", { ...acceptedEvent, data: { invoice: { ...acceptedInvoice, invoice_xml: "<a/>" } } }]
  ])("drops %s that it does not declare, and rejects it in exact decoding", (_, event) => {
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
  ])("rejects %s = %j", (member, value) => {
    assert.throws(() => decode({ ...acceptedEvent, [member]: value }))
  })

  it.prop(
    "survives a JSON round trip",
    [InvoiceEvent.InvoiceEvent],
    ([event]) => {
      const there: unknown = throughJson(encode(event))
      // JSON has no negative zero.
      assert.deepStrictEqual(decodeExactly(there), throughJson(event))
    },
    thorough
  )

  describe("isSubscribed", () => {
    it.prop(
      "returns true for listed types, and for every type with *",
      [Schema.Array(Schema.Union([EventType, Schema.Literals(["*", "invoice.*", "invoice", ""])])), EventType],
      ([subscriptions, type]) => {
        assert.strictEqual(
          isSubscribed(subscriptions, type),
          subscriptions.some((subscription) => subscription === type || subscription === "*")
        )
      },
      thorough
    )

    it("returns false for an empty list", () => {
      assert.deepStrictEqual(
        EventType.literals.filter((type) => isSubscribed([], type)),
        []
      )
    })

    it("supports no pattern other than *", () => {
      assert.deepStrictEqual(
        EventType.literals.filter((type) => isSubscribed(["invoice.*", "invoice", "**"], type)),
        []
      )
    })
  })
})
