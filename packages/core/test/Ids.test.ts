import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { Ids } from "../src/index.ts"
import { bytes, hostileText, thorough } from "./arbitraries.ts"

const Prefix = Schema.Literals(["acct", "org", "key", "inv", "evt", "we", "wd", "req"])

// From the epoch to the largest 48-bit number of milliseconds, in the year 10889.
const Millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 48 - 1 }))

// Crockford's base32 symbols: ten digits, then the letters without I, L, O and U.
const symbols = Array.from("0123456789abcdefghijklmnopqrstuvwxyz".replaceAll(/[ilou]/g, ""))

// An independent decoder: the 26 symbols as one number, the number in hex.
const toHex = (id: string): string => {
  const text = id.slice(id.indexOf("_") + 1)
  const value = Array.from(text).reduce((sum, symbol) => sum * 32n + BigInt(symbols.indexOf(symbol)), 0n)
  return value.toString(16).padStart(32, "0")
}

// An independent definition of a well-formed id.
const isId = (prefix: string, value: string): boolean => {
  const [head, ...rest] = value.split("_")
  const [text] = rest
  return (
    head === prefix &&
    rest.length === 1 &&
    text!.length === 26 &&
    Array.from(text!).every((symbol) => symbols.includes(symbol)) &&
    toHex(value).length === 32
  )
}

const sample = Ids.make(
  "inv",
  1_795_000_000_000,
  Uint8Array.from({ length: 16 }, (_, index) => index * 15)
)

describe("Ids", () => {
  it("has eight prefixes", () => {
    assert.deepStrictEqual(Ids.prefixes, {
      account: "acct",
      organization: "org",
      apiKey: "key",
      invoice: "inv",
      event: "evt",
      endpoint: "we",
      delivery: "wd",
      request: "req"
    })
  })

  it("does not compile when ids of different kinds are mixed", () => {
    const id: Ids.InvoiceId = Ids.make("inv", 0, new Uint8Array(10))
    // @ts-expect-error Type '`inv_${string}`' is not assignable to type '`evt_${string}`'
    const event: Ids.EventId = id
    assert.strictEqual(event, id)
  })

  describe("make", () => {
    it("has the time, the bucket, and random characters", () => {
      const random = Uint8Array.from([0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f])
      assert.strictEqual(Ids.make("acct", 0x017f22e279b0, random), "acct_01fwhe4ydg1k1hhh6w1g60eecf")
      assert.strictEqual(Ids.make("inv", 0x017f22e279b0, random, "x7"), "inv_01fwhe4ydgx71hhh6w1g60eecf")
    })

    it.prop(
      "returns the prefix and 26 symbols of the alphabet",
      [Prefix, Millis, bytes],
      ([prefix, millis, random]) => {
        const id = Ids.make(prefix, millis, random)
        assert.isTrue(id.startsWith(`${prefix}_`))
        const text = id.slice(prefix.length + 1)
        assert.lengthOf(text, 26)
        assert.isTrue(Array.from(text).every((symbol) => symbols.includes(symbol)))
      },
      thorough
    )

    it.prop(
      "returns the timestamp and the random bits",
      [Millis, bytes],
      ([millis, random]) => {
        const hex = toHex(Ids.make("req", millis, random))
        assert.strictEqual(
          hex,
          millis.toString(16).padStart(12, "0") + Buffer.from(random.slice(0, 10)).toString("hex")
        )
      },
      thorough
    )

    it.prop(
      "returns the bucket of an organization, and no other difference",
      [Millis, bytes, bytes],
      ([millis, random, randomOfOwner]) => {
        const owner = Ids.make("org", millis, randomOfOwner)
        const id = Ids.make("evt", millis, random, Ids.bucket(owner))
        assert.strictEqual(Ids.bucket(id), Ids.bucket(owner))
        assert.strictEqual(Ids.timestamp(id), millis)
        assert.strictEqual(id.slice(16), Ids.make("evt", millis, random).slice(16))
      },
      thorough
    )

    it.prop(
      "returns ids that sort by age",
      [Millis, Millis, bytes, bytes],
      ([one, other, randomOne, randomOther]) => {
        const ids = [Ids.make("evt", one, randomOne), Ids.make("evt", other, randomOther)] as const
        if (one !== other) assert.strictEqual(ids[0] < ids[1], one < other)
      },
      thorough
    )

    it.prop(
      "returns ids of adjacent milliseconds that sort by age in an English locale, too",
      [Millis, bytes, bytes],
      ([millis, randomOne, randomOther]) => {
        const later = millis + 1
        if (later < 2 ** 48)
          assert.isBelow(Ids.make("evt", millis, randomOne).localeCompare(Ids.make("evt", later, randomOther), "en"), 0)
      },
      thorough
    )

    it.prop(
      "returns different ids for different random bits",
      [Millis, bytes, bytes],
      ([millis, one, other]) => {
        const significant = (random: Uint8Array) => random.slice(0, 10).join()
        assert.strictEqual(
          Ids.make("we", millis, one) === Ids.make("we", millis, other),
          significant(one) === significant(other)
        )
      },
      thorough
    )

    it("truncates fractions of a millisecond", () => {
      assert.strictEqual(Ids.timestamp(Ids.make("inv", 1_795_000_000_000.9, new Uint8Array(10))), 1_795_000_000_000)
    })

    it.each([-1, -0.5, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
      "rejects %d as a timestamp",
      (millis) => {
        assert.throws(() => Ids.make("inv", millis, new Uint8Array(10)), RangeError)
      }
    )

    it("rejects fewer than ten random bytes", () => {
      assert.strictEqual(Ids.randomLength, 10)
      assert.throws(() => Ids.make("inv", 0, new Uint8Array(9)), RangeError)
    })
  })

  describe("timestamp", () => {
    it.prop(
      "returns the timestamp that make was given",
      [Prefix, Millis, bytes],
      ([prefix, millis, random]) => {
        assert.strictEqual(Ids.timestamp(Ids.make(prefix, millis, random)), millis)
      },
      thorough
    )
  })

  describe("is", () => {
    it.prop(
      "accepts ids only with their own prefix",
      [Prefix, Prefix, Millis, bytes],
      ([prefix, other, millis, random]) => {
        assert.strictEqual(Ids.is(other, Ids.make(prefix, millis, random)), prefix === other)
      },
      thorough
    )

    it.each<[what: string, value: string]>([
      ["nothing", ""],
      ["the prefix alone", "inv_"],
      ["no prefix", sample.slice(4)],
      ["no underscore", sample.replace("_", "")],
      ["two underscores", sample.replace("_", "__")],
      ["a longer prefix", `x${sample}`],
      ["capitals in the prefix", sample.replace("inv", "INV")],
      ["capitals in the text", sample.slice(0, 4) + sample.slice(4).toUpperCase()],
      ["one symbol too few", sample.slice(0, -1)],
      ["one symbol too many", `${sample}0`],
      ["a line feed at the end", `${sample}\n`],
      ["a space before", ` ${sample}`],
      ["a NUL at the end", `${sample}\u0000`],
      ["a number beyond 128 bits", "inv_8zzzzzzzzzzzzzzzzzzzzzzzzz"],
      ["the letter i", `inv_${"0".repeat(25)}i`],
      ["the letter l", `inv_${"0".repeat(25)}l`],
      ["the letter o", `inv_${"0".repeat(25)}o`],
      ["the letter u", `inv_${"0".repeat(25)}u`],
      ["digits of another script", `inv_${"0".repeat(25)}٣`],
      ["a UUID", "inv_019e0b3a-5d7c-7000-8000-000000000000"],
      ["a path", "inv_../../me"],
      ["a statement", "inv_' OR 1=1 --"]
    ])("rejects %s", (_, value) => {
      assert.isFalse(Ids.is("inv", value))
    })

    it.prop(
      "agrees with the independent definition on mutated ids",
      [
        Prefix,
        bytes,
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 31 })),
        Schema.Literals([0, 1]),
        Arbitrary.schema(
          Schema.Union([
            Schema.String.check(Schema.isMaxLength(2)),
            Schema.Literals(["i", "l", "o", "u", "U", "A", "0", "z", "8", "_", "-", ""])
          ])
        )
      ],
      ([prefix, random, position, cut, insert]) => {
        const id = Ids.make(prefix, 1_795_000_000_000, random)
        const mutated = id.slice(0, position) + insert + id.slice(position + cut)
        assert.strictEqual(Ids.is(prefix, mutated), isId(prefix, mutated))
      },
      { arbitrary: { runs: 10_000 } }
    )

    it.prop(
      "rejects arbitrary text",
      [Prefix, hostileText],
      ([prefix, text]) => {
        assert.isFalse(Ids.is(prefix, text))
        assert.isFalse(Ids.is(prefix, `${prefix}_${text}`))
      },
      thorough
    )
  })

  describe("schema", () => {
    const decode = Schema.decodeUnknownResult(Ids.schema("wd"))

    it.prop(
      "accepts the same values as `is`",
      [Prefix, Millis, bytes],
      ([prefix, millis, random]) => {
        assert.strictEqual(decode(Ids.make(prefix, millis, random))._tag, prefix === "wd" ? "Success" : "Failure")
      },
      thorough
    )

    it("rejects values that are not strings", () => {
      for (const value of [null, undefined, 7, {}, [sample]]) assert.strictEqual(decode(value)._tag, "Failure")
    })

    // Nothing else notices a pattern or an example that is missing from the OpenAPI document.
    it.each(Prefix.literals)("has the pattern and a valid example of %s in its JSON Schema", (prefix) => {
      const { schema } = Schema.toJsonSchemaDocument(Ids.schema(prefix))
      assert.strictEqual(schema["pattern"], `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)
      const [example] = schema["examples"] as ReadonlyArray<string>
      assert.isTrue(isId(prefix, example!))
    })
  })
})
