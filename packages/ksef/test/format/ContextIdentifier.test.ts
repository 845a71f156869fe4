import { ContextIdentifier } from "@govoice/ksef/format"
import { assert, describe, it } from "vitest"

// The examples of the published schemas and of their documentation, with the right check digits.
const contexts: ReadonlyArray<ContextIdentifier.ContextIdentifier> = [
  { type: "Nip", value: "5265877635" },
  { type: "InternalId", value: "6824515772-12343" },
  { type: "NipVatUe", value: "5265877635-ATU12345678" }
]

describe("ContextIdentifier", () => {
  it.each(contexts)("knows $type $value by its value", (context) => {
    assert.deepStrictEqual(ContextIdentifier.ofValue(context.value), context)
    assert.strictEqual(ContextIdentifier.nip(context.value), context.value.slice(0, 10))
    for (const { type } of contexts) {
      assert.strictEqual(ContextIdentifier.isValid({ type, value: context.value }), type === context.type, type)
    }
  })

  it.each([
    ["Nip", "5265877636"],
    ["InternalId", "6824515772-12344"],
    ["InternalId", "6824515773-12343"],
    ["NipVatUe", "5265877636-ATU12345678"],
    ["NipVatUe", "5265877635-AT12345678"],
    ["NipVatUe", "5265877635-PL5265877635"],
    ["NipVatUe", "5265877635-ATU12345678\n"],
    ["NipVatUe", "5265877635ATU12345678"]
  ] as const)("refuses %s %j", (type, value) => {
    assert.isFalse(ContextIdentifier.isValid({ type, value }))
  })
})
