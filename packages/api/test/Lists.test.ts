import { assert, describe, it } from "@effect/vitest"
import { Lists } from "@govoice/api"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"

const Query = Schema.toCodecStringTree(Schema.Struct(Lists.pageQuery))

const decode = (query: unknown) => Option.getOrUndefined(Schema.decodeUnknownOption(Query)(query))

describe("Lists", () => {
  it("has 50 records per page by default and 100 at most", () => {
    assert.deepStrictEqual(Lists.limits, { max: 100, default: 50 })
    assert.deepStrictEqual(Lists.limitJsonSchema, { type: "integer", minimum: 1, maximum: 100, default: 50 })
  })

  it("decodes missing parameters as absent members", () => {
    assert.deepStrictEqual(decode({}), {})
    assert.deepStrictEqual(decode({ cursor: "abc" }), { cursor: "abc" })
  })

  it("accepts a limit from 1 to 100", () => {
    for (let limit = 1; limit <= 100; limit++) assert.deepStrictEqual(decode({ limit: String(limit) }), { limit })
  })

  it.each([
    "0",
    "101",
    "1000",
    "-1",
    "+5",
    "05",
    "1e1",
    "0x5",
    "5.0",
    "5.5",
    " 5",
    "5 ",
    "",
    "ten",
    "NaN",
    "Infinity",
    "٥"
  ])("rejects the limit %j", (limit) => assert.isUndefined(decode({ limit })))

  it("rejects an empty cursor", () => assert.isUndefined(decode({ cursor: "" })))

  it("rejects a limit in another notation than decimal digits", () => {
    const digits = fc.string({ unit: fc.constantFrom(...Array.from("0123456789+-.eEx _")), maxLength: 6 })
    fc.assert(
      fc.property(digits, (limit) => {
        const plain = Array.from({ length: 100 }, (_, index) => String(index + 1)).includes(limit)
        assert.deepStrictEqual(decode({ limit }), plain ? { limit: Number(limit) } : undefined)
      }),
      { numRuns: 2000 }
    )
  })

  it("encodes a limit as text", () => {
    assert.deepStrictEqual(Schema.encodeUnknownSync(Query)({ limit: 10 }), { limit: "10" })
  })
})
