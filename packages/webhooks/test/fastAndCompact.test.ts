/**
 * Checks that `fast.ts` and `compact.ts` give the same results for any input.
 */
import { WebhookVerificationError, type WebhookHeaders } from "@govoice/webhooks"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import * as compact from "../src/internal/compact.ts"
import * as fast from "../src/internal/fast.ts"
import { nodeCrypto } from "../src/internal/platform.ts"

// Runs are multiplied in the long tests.
const factor = Number(process.env["PROPERTY_FACTOR"] ?? 1)

const malformedTimestamp =
  "malformed_timestamp: Header gov-timestamp is not an ISO 8601 date in UTC. Check that no proxy changes it."

const outcome = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    assert.instanceOf(error, WebhookVerificationError)
    return error.message
  }
}

const digits = (max: number, length: number) =>
  fc.integer({ min: 0, max }).map((value) => String(value).padStart(length, "0"))
const fraction = fc.oneof(
  fc.constant(""),
  fc.constant(".000"),
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 20 }).map((list) => `.${list.join("")}`),
  digits(999, 3).map((millis) => `.${millis}`)
)
/** Mostly dates that exist, sometimes June 31, hour 24 or month 13. */
const dates = fc
  .tuple(
    fc.oneof(digits(9999, 4), fc.constantFrom("2024", "2026", "1900", "2000", "0000", "0099")),
    fc.oneof({ weight: 5, arbitrary: digits(12, 2) }, digits(19, 2)),
    fc.oneof({ weight: 5, arbitrary: digits(31, 2) }, digits(39, 2)),
    fc.oneof({ weight: 5, arbitrary: digits(24, 2) }, digits(29, 2)),
    fc.oneof({ weight: 5, arbitrary: digits(60, 2) }, digits(69, 2)),
    fc.oneof({ weight: 5, arbitrary: digits(60, 2) }, digits(69, 2)),
    fraction
  )
  .map(
    ([year, month, day, hour, minute, second, rest]) => `${year}-${month}-${day}T${hour}:${minute}:${second}${rest}Z`
  )

/** One character removed, inserted or replaced. */
const mangled = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(
      texts,
      fc.nat(),
      fc.constantFrom(0, 1),
      fc.oneof(
        fc.constantFrom("", " ", ",", ", ", "v", "V", "A", "g", "0", "-", "+", "z", "\n", "\u0661"),
        fc.string({ maxLength: 2 })
      )
    )
    .map(([text, at, gone, put]) => {
      const start = at % (text.length + 1)
      return text.slice(0, start) + put + text.slice(start + gone)
    })

const moments = fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
const timestamps = fc.oneof(moments, dates, mangled(fc.oneof(moments, dates)), fc.string())

const hex = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("hex"))
const signature = hex.map((mac) => `v1=${mac}`)
const signatures = fc.oneof(
  signature,
  mangled(signature),
  signature.map((text) => text.toUpperCase()),
  fc
    .array(fc.oneof(signature, mangled(signature), fc.constantFrom("v2=abc", "v0=", "", " ")), { maxLength: 10 })
    .chain((list) => fc.constantFrom(",", ", ", " ,\t").map((comma) => list.join(comma))),
  fc.string()
)

const ids = fc.oneof(fc.constantFrom("evt_1", "evt_1, evt_2", "", "ó"), fc.string())

const usual = fc.oneof(
  fc.record({ "gov-event-id": fc.constant("evt_1"), "gov-timestamp": moments, "gov-signature": signature }),
  fc.record({ "gov-event-id": ids, "gov-timestamp": timestamps, "gov-signature": signatures })
)
const others = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      "Gov-Event-Id",
      "gov-Timestamp",
      "GOV-SIGNATURE",
      "cdn-loop",
      "gov-other",
      "abc-abcd-efg",
      "host",
      "__proto__"
    ),
    fc.string()
  ),
  fc.oneof(
    signature,
    moments,
    fc.string(),
    fc.constantFrom<unknown>(undefined, null, 7, true, {}, [], ["evt_1"], ["evt_1", "evt_2"])
  ),
  { maxKeys: 3 }
)

/** Headers in the representations of different frameworks. */
const received = fc
  .tuple(
    usual,
    fc.oneof(fc.constant({}), others),
    fc.constantFrom("record", "bare", "inherited", "entries", "Headers", "lists"),
    fc.constantFrom(0, 0, 1)
  )
  .map(([usual, others, kind, less]): unknown => {
    const all = Object.fromEntries([...Object.entries(usual).slice(less), ...Object.entries(others)])
    switch (kind) {
      case "bare":
        return Object.assign(Object.create(null) as object, all)
      case "inherited":
        return Object.create(all)
      case "entries":
        return Object.entries(all)
      case "Headers": {
        const headers = new Headers()
        for (const [name, value] of Object.entries(all)) {
          try {
            headers.append(name, String(value))
          } catch {
            // Headers rejects this name or value.
          }
        }
        return headers
      }
      case "lists":
        return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]]))
      default:
        return all
    }
  })

describe("fast.ts and compact.ts", () => {
  it("export the same names", () => assert.sameMembers(Object.keys(fast), Object.keys(compact)))

  it("read valid and invalid headers with the same result", () => {
    let good = 0
    fc.assert(
      fc.property(fc.option(received, { nil: undefined, freq: 20 }), (headers) => {
        const [one, other] = [fast, compact].map((way) => outcome(() => way.readHeaders(headers as WebhookHeaders)))
        assert.deepStrictEqual(one, other)
        if (typeof one !== "string") good += 1
      }),
      { numRuns: 4000 * factor }
    )
    // Ensures that enough of the cases were valid.
    assert.isAbove(good, 200 * factor)
  })

  it("read valid and invalid timestamps with the same result", () => {
    let good = 0
    const rest = { "gov-event-id": "evt_1", "gov-signature": `v1=${"0a".repeat(32)}` }
    fc.assert(
      fc.property(timestamps, (timestamp) => {
        const headers = { ...rest, "gov-timestamp": timestamp }
        const [one, other] = [fast, compact].map((way) => outcome(() => way.readHeaders(headers)))
        assert.deepStrictEqual(one, other, timestamp)
        if (typeof one !== "string") good += 1
      }),
      { numRuns: 20_000 * factor }
    )
    assert.isAbove(good, 2000 * factor)
  })

  it("accept exactly the days that exist at the end of each month", () => {
    for (const year of [1000, 1900, 2000, 2024, 2026, 2100]) {
      for (let month = 1; month <= 12; month += 1) {
        for (let day = 28; day <= 32; day += 1) {
          const text = `${year}-${String(month).padStart(2, "0")}-${day}T23:59:59.999Z`
          const headers = { "gov-event-id": "evt_1", "gov-signature": `v1=${"0a".repeat(32)}`, "gov-timestamp": text }
          const exists = day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
          const expected = exists ? ["evt_1", text, Date.parse(text), ["0a".repeat(32)]] : malformedTimestamp
          for (const way of [fast, compact]) {
            assert.deepStrictEqual(
              outcome(() => way.readHeaders(headers)),
              expected
            )
          }
        }
      }
    }
  })

  it.each([
    "+012345-01-01T00:00Z",
    "-000001-01-01T00:00Z",
    "+012345-01-01T00:00:00Z",
    "2026-11-20T10:00Z",
    "2026-11-20Z"
  ])("reject %s, which Date.parse accepts", (timestamp) => {
    assert.isNotNaN(Date.parse(timestamp))
    const headers = { "gov-event-id": "evt_1", "gov-signature": `v1=${"0a".repeat(32)}`, "gov-timestamp": timestamp }
    for (const way of [fast, compact]) {
      assert.strictEqual(
        outcome(() => way.readHeaders(headers)),
        malformedTimestamp
      )
    }
  })

  it("sign and match signatures with the same result", () => {
    const printable = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index))
    fc.assert(
      fc.property(
        fc
          .array(fc.constantFrom(...printable), { minLength: 1, maxLength: 100 })
          .map((text) => `whsec_${text.join("")}`),
        fc.oneof(moments, fc.string({ unit: "binary" })),
        fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: "binary" })),
        fc.array(hex, { maxLength: 8 }),
        fc.nat({ max: 8 }),
        fc.boolean(),
        (secret, timestamp, body, signatures, at, fits) => {
          const [one, other] = [fast, compact].map((way) => way.makeNodeKey(nodeCrypto()!, secret))
          const mac = one!(timestamp, body)
          assert.strictEqual(mac, other!(timestamp, body))
          const list = fits ? signatures.toSpliced(at, 0, mac as string).slice(0, at + 8) : signatures
          assert.strictEqual(one!(timestamp, body, list), fits)
          assert.strictEqual(other!(timestamp, body, list), fits)
        }
      ),
      { numRuns: 1000 * factor }
    )
  })

  it("decode valid and invalid UTF-8 with the same result", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.string({ unit: "binary" }).map((text) => Buffer.from(text))
        ),
        fc.boolean(),
        (bytes, mark) => {
          const body = mark ? Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]) : bytes
          assert.strictEqual(fast.decode(body), compact.decode(body))
        }
      ),
      { numRuns: 1000 * factor }
    )
  })
})
