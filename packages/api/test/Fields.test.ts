import { assert, describe, it } from "@effect/vitest"
import { InvoiceEvent } from "@govoice/core"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import * as Fields from "../src/Fields.ts"

const runs = { numRuns: 2000 }

const accepts = (schema: Schema.Codec<unknown, unknown>, value: unknown): boolean =>
  Exit.isSuccess(Schema.decodeUnknownExit(schema)(value))

const faultOf = (schema: Schema.Codec<unknown, unknown>, value: unknown): string =>
  String(Exit.findErrorOption(Schema.decodeUnknownExit(schema)(value)))

// Any string, unpaired surrogates included.
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((units) => String.fromCharCode(...units))
)

describe("Fields", () => {
  describe("text", () => {
    it("counts code points", () => {
      const schema = Fields.text(2, 3)
      assert.isTrue(accepts(schema, "👍👍👍"))
      assert.isFalse(accepts(schema, "👍👍👍👍"))
      assert.isFalse(accepts(schema, "👍"))
      assert.isTrue(accepts(schema, "ab"))
    })

    it("rejects NUL and unpaired surrogates", () => {
      for (const value of ["a\u0000b", "a\ud800", "\udc00a", "a\udc00\ud800b"]) {
        assert.isFalse(accepts(Fields.text(0, 10), value), JSON.stringify(value))
      }
    })

    it("accepts exactly storable text of the right length", () => {
      fc.assert(
        fc.property(anyText, fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 20 }), (value, min, more) => {
          // An independent definition: UTF-8 keeps storable text, and a pattern counts the characters.
          const storable = !/\0/.test(value) && Buffer.from(value, "utf8").toString("utf8") === value
          const fits = new RegExp(`^[^]{${min},${min + more}}$`, "u").test(value)
          assert.strictEqual(accepts(Fields.text(min, min + more), value), storable && fits)
        }),
        runs
      )
    })
  })

  describe("email", () => {
    it.each([
      "a@b",
      "owner@example.com",
      "o'hara+tag@sub.example.com",
      "ąę@przykład.pl",
      "ö@b",
      `${"a".repeat(252)}@b`
    ])("accepts %s", (value) => assert.isTrue(accepts(Fields.email, value)))

    it.each([
      "",
      "a",
      "@b",
      "a@",
      "ab",
      "a@@b",
      "a@b@c",
      "a b@c.d",
      "a@b.c ",
      " a@b.c",
      "a@b\n",
      "a\u0000@b",
      "a@b\ud800",
      "a\t@b.c",
      `${"a".repeat(253)}@b`
    ])("rejects %j", (value) => assert.isFalse(accepts(Fields.email, value)))
  })

  describe("password", () => {
    it("has 12 to 128 code points", () => {
      assert.isFalse(accepts(Fields.password, "x".repeat(11)))
      assert.isTrue(accepts(Fields.password, "x".repeat(12)))
      assert.isTrue(accepts(Fields.password, "x".repeat(128)))
      assert.isFalse(accepts(Fields.password, "x".repeat(129)))
      assert.isTrue(accepts(Fields.password, "🔑".repeat(128)))
      assert.isFalse(accepts(Fields.password, "🔑".repeat(11)))
      assert.isTrue(accepts(Fields.password, " ".repeat(12)))
      assert.isFalse(accepts(Fields.password, `${"x".repeat(12)}\u0000`))
    })
  })

  describe("modes", () => {
    it.each([["test"], ["live"], ["test", "live"], ["live", "test"]])("accepts %j", (...modes) =>
      assert.isTrue(accepts(Fields.modes, modes))
    )

    it.each([[[]], [["test", "test"]], [["other"]], ["test"], [null]])("rejects %j", (modes) =>
      assert.isFalse(accepts(Fields.modes, modes))
    )
  })

  describe("headers", () => {
    it.each([
      {},
      { "X-Api-Key": "a" },
      { authorization: "Bearer abc=", cookie: "a=b; c=d", "x-!#$%&'*+.^_`|~9": "a b" },
      Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`x-${n}`, "a"])),
      { ["x".repeat(64)]: "a".repeat(1000) }
    ])("accepts %j", (headers) => assert.isTrue(accepts(Fields.headers, headers)))

    // Those of the message and its connection, of proxies and of the signature.
    it.each(
      [
        "connection content-encoding content-length Content-Type date expect forwarded gov-event-id Gov-Signature host".split(
          " "
        ),
        "http2-settings keep-alive proxy-authorization proxy-connection te trailer Transfer-Encoding upgrade".split(
          " "
        ),
        "user-agent via webhook-id Webhook-Signature x-forwarded-for x-real-ip traceparent".split(" ")
      ].flat()
    )("rejects the name %s, and tells it", (name) => {
      assert.include(faultOf(Fields.headers, { [name]: "a" }), name)
    })

    it.each([
      Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`x-${n}`, "a"])),
      { "x-a": "1", "X-A": "2" },
      { "": "a" },
      { "x y": "a" },
      { "x:y": "a" },
      { "x\r\ny": "a" },
      { ż: "a" },
      { ["x".repeat(65)]: "a" },
      { "x-a": "" },
      { "x-a": " a" },
      { "x-a": "a " },
      { "x-a": "a\r\nx-b: c" },
      { "x-a": "a\u0000" },
      { "x-a": "ż" },
      { "x-a": "a".repeat(1001) },
      { "x-a": 1 },
      ["x-a"],
      null
    ])("rejects %j", (headers) => assert.isFalse(accepts(Fields.headers, headers)))

    it("does not tell the value", () => {
      assert.notInclude(faultOf(Fields.headers, { "x-a": "secret\n" }), "secret")
    })
  })

  describe("eventTypes", () => {
    const known = InvoiceEvent.EventType.literals

    it.each<ReadonlyArray<string>>([["*"], ["invoice.accepted"], [...known], known.toReversed()])(
      "takes %j",
      (...types) => assert.isTrue(accepts(Fields.eventTypes, types))
    )

    it.each<[unknown]>([
      [[]],
      [["*", "*"]],
      [["*", "invoice.accepted"]],
      [["invoice.accepted", "*"]],
      [["invoice.accepted", "invoice.accepted"]],
      [["invoice.accepted", "nope"]],
      [["invoice.*"]],
      [["Invoice.Accepted"]],
      [[""]],
      [[5]],
      [[null]],
      [[["*"]]],
      ["*"],
      [{ 0: "*" }],
      [null]
    ])("rejects %j", (types) => assert.isFalse(accepts(Fields.eventTypes, types)))

    it('accepts exactly ["*"] or distinct known types', () => {
      const names = fc.constantFrom("*", ...known, "invoice.lost")
      fc.assert(
        fc.property(fc.array(names, { maxLength: 8 }), (types) => {
          const text = [...types].sort().join()
          const subset = known.reduce((rest, type) => rest.replace(type, ""), text).replaceAll(",", "")
          assert.strictEqual(accepts(Fields.eventTypes, types), text === "*" || (types.length > 0 && subset === ""))
        }),
        runs
      )
    })
  })

  describe("context", () => {
    const isNip = (value: unknown) => accepts(Fields.context, { type: "Nip", value })

    it.each([
      ["InternalId", "5265877635-12346"],
      ["NipVatUe", "5265877635-DE123456789"],
      ["NipVatUe", "5265877635-ATU12345678"]
    ])("accepts %s %s, and with no other type", (type, value) => {
      const types = ["Nip", "InternalId", "NipVatUe"].filter((one) => accepts(Fields.context, { type: one, value }))
      assert.deepStrictEqual(types, [type])
    })

    it.each([
      ["InternalId", "5265877635-12345"],
      ["InternalId", "5265877636-12346"],
      ["InternalId", "526587763512346"],
      ["NipVatUe", "5265877636-DE123456789"],
      ["NipVatUe", "5265877635-DE12345678"],
      ["NipVatUe", "5265877635-PL5265877635"],
      ["NipVatUe", "5265877635-DE123456789\n"],
      ["PeppolId", "PPL000001"]
    ])("rejects %s %s", (type, value) => assert.isFalse(accepts(Fields.context, { type, value })))

    it("names the value, and the form of the type", () => {
      assert.match(
        faultOf(Fields.context, { type: "InternalId", value: "5265877635-12345" }),
        /must be an internal identifier: a NIP, a hyphen and five digits.*\n?.*"value"/s
      )
      assert.match(faultOf(Fields.context, { type: "Pesel", value: "1" }), /must be "Nip", "InternalId" or "NipVatUe"/)
    })

    // The check digit: (6·a + 5·b + 7·c + 2·d + 3·e + 4·f + 5·g + 6·h + 7·i) mod 11.
    const checkDigit = (text: string): number => {
      const [a, b, c, d, e, f, g, h, i] = Array.from(text, Number) as [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number
      ]
      return (6 * a + 5 * b + 7 * c + 2 * d + 3 * e + 4 * f + 5 * g + 6 * h + 7 * i) % 11
    }

    it.each(["5265877635", "5260250274", "1234563218"])("accepts %s", (value) => assert.isTrue(isNip(value)))

    it.each([
      "5265877636",
      "526587763",
      "52658776350",
      "526-587-76-35",
      "PL5265877635",
      " 5265877635",
      "5265877635\n",
      "٥٢٦٥٨٧٧٦٣٥",
      "",
      "NaN",
      "5265877635.0"
    ])("rejects %j", (value) => assert.isFalse(isNip(value)))

    it("rejects a number", () => assert.isFalse(isNip(5_265_877_635)))

    const nine = fc
      .array(fc.integer({ min: 0, max: 9 }), { minLength: 9, maxLength: 9 })
      .map((digits) => digits.join(""))

    it("accepts exactly one check digit, if there is one", () => {
      fc.assert(
        fc.property(nine, (text) => {
          const right = checkDigit(text)
          for (let digit = 0; digit <= 9; digit++) {
            assert.strictEqual(isNip(`${text}${digit}`), digit === right)
          }
        }),
        runs
      )
    })

    it("rejects every change of one digit", () => {
      fc.assert(
        fc.property(nine, fc.integer({ min: 0, max: 8 }), fc.integer({ min: 1, max: 9 }), (text, place, by) => {
          const right = checkDigit(text)
          fc.pre(right !== 10)
          const slipped = (Number(text[place]) + by) % 10
          assert.isFalse(isNip(`${text.slice(0, place)}${slipped}${text.slice(place + 1)}${right}`))
        }),
        runs
      )
    })
  })
})
