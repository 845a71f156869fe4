/**
 * Compares random webhooks with a second implementation (`node:crypto` directly), and flips every single bit.
 */
import {
  createVerifier,
  sign,
  signSync,
  WebhookVerificationError,
  type WebhookVerificationErrorCode
} from "@govoice/webhooks"
import * as fc from "fast-check"
import { createHmac } from "node:crypto"
import { afterEach, assert, describe, it, vi } from "vitest"

// Runs are multiplied in the long tests.
const factor = Number(process.env["PROPERTY_FACTOR"] ?? 1)

const hmac = (secret: string, timestamp: string, body: Uint8Array) =>
  createHmac("sha256", Buffer.from(secret))
    .update(Buffer.concat([Buffer.from(`${timestamp}.`), body]))
    .digest("hex")

type Outcome = WebhookVerificationErrorCode | "ok"

const outcome = (run: () => unknown): Outcome => {
  try {
    run()
    return "ok"
  } catch (error) {
    assert.instanceOf(error, WebhookVerificationError)
    return error.code
  }
}

const outcomeOf = (promise: Promise<unknown>): Promise<Outcome> =>
  promise.then(
    () => "ok" as const,
    (error: unknown) => {
      assert.instanceOf(error, WebhookVerificationError)
      return error.code
    }
  )

const printable = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index))
const secrets = fc
  .array(fc.constantFrom(...printable), { minLength: 1, maxLength: 80 })
  .map((text) => `whsec_${text.join("")}`)
const times = fc.date({
  min: new Date("2000-01-01T00:00:00Z"),
  max: new Date("2100-01-01T00:00:00Z"),
  noInvalidDate: true
})
const timestamps = times.chain((time) =>
  fc
    .option(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 12 }), { nil: undefined })
    .map((digits) => `${time.toISOString().slice(0, 19)}${digits ? `.${digits.join("")}` : ""}Z`)
)
const ids = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
  .filter((id) => id.isWellFormed() && !id.includes(", "))
const events = fc
  .record({ id: ids, type: fc.string(), data: fc.jsonValue() })
  .map((event) => ({ id: event.id, body: Buffer.from(JSON.stringify(event)) }))

const webhooks = fc.record({ secret: secrets, timestamp: timestamps, event: events })

const headersOf = (id: string, timestamp: string, mac: string) => ({
  "gov-event-id": id,
  "gov-timestamp": timestamp,
  "gov-signature": `v1=${mac}`
})

afterEach(() => void vi.restoreAllMocks())

describe("verification", () => {
  it("accepts every webhook signed by the reference implementation and returns its event", () => {
    fc.assert(
      fc.property(webhooks, ({ secret, timestamp, event: { id, body } }) => {
        const verifier = createVerifier({ secret, now: () => Date.parse(timestamp) })
        const verified = verifier.verifySync(body, headersOf(id, timestamp, hmac(secret, timestamp, body)))
        assert.strictEqual(verified.id, id)
        assert.strictEqual(verified.timestamp.getTime(), Date.parse(timestamp))
        assert.deepStrictEqual(verified.event, JSON.parse(body.toString("utf8")))
      }),
      { numRuns: 1000 * factor }
    )
  })

  it("agrees with the reference implementation for bodies of arbitrary bytes", () => {
    fc.assert(
      fc.property(
        secrets,
        timestamps,
        fc.uint8Array({ maxLength: 300 }),
        fc.boolean(),
        (secret, timestamp, body, good) => {
          const verifier = createVerifier({ secret, now: () => Date.parse(timestamp) })
          const mac = hmac(secret, timestamp, good ? body : Buffer.concat([body, Buffer.from(" ")]))
          const code = outcome(() => verifier.verifySync(body, headersOf("evt_1", timestamp, mac)))
          if (good) assert.notStrictEqual(code, "no_match")
          else assert.strictEqual(code, "no_match")
        }
      ),
      { numRuns: 1000 * factor }
    )
  })

  it("gives the same results with Web Crypto and with node:crypto", async () => {
    await fc.assert(
      fc.asyncProperty(webhooks, fc.nat(), async ({ secret, timestamp, event: { id, body } }, at) => {
        const mac = hmac(secret, timestamp, body)
        const other = Buffer.from(body)
        other[at % other.length]! ^= 1
        const options = { secret, now: () => Date.parse(timestamp) }
        const here = createVerifier(options)
        vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
        const elsewhere = createVerifier(options)
        vi.restoreAllMocks()
        for (const bytes of [body, other]) {
          const headers = headersOf(id, timestamp, mac)
          const expected = outcome(() => here.verifySync(bytes, headers))
          assert.strictEqual(await outcomeOf(elsewhere.verify(bytes, headers)), expected)
        }
      }),
      { numRuns: 400 * factor }
    )
  })

  it("does not accept a promise as a match if node:crypto disappears while a verifier is created", () => {
    const timestamp = "2026-11-20T10:00:00.000Z"
    const options = { secret: "whsec_x", now: () => Date.parse(timestamp) }
    const node = process.getBuiltinModule("node:crypto")
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined).mockReturnValueOnce(node)
    const verifier = createVerifier(options)
    vi.restoreAllMocks()
    const code = outcome(() => verifier.verifySync('{"id":"evt_1"}', headersOf("evt_1", timestamp, "0".repeat(64))))
    assert.strictEqual(code, "no_match")
  })

  it("rejects a webhook after any single bit was flipped", () => {
    const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
    const timestamp = "2026-11-20T10:00:00.000Z"
    const body = Buffer.from('{"id":"evt_1","type":"invoice.accepted","data":{"note":"Zażółć gęślą jaźń"}}')
    const mac = Buffer.from(hmac(secret, timestamp, body), "hex")
    const verifier = createVerifier({ secret, now: () => Date.parse(timestamp) })
    const flip = (bytes: Uint8Array, bit: number) => {
      const copy = Buffer.from(bytes)
      copy[bit >> 3]! ^= 1 << (bit & 7)
      return copy
    }

    assert.strictEqual(
      outcome(() => verifier.verifySync(body, headersOf("evt_1", timestamp, mac.toString("hex")))),
      "ok"
    )
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      const changed = () => verifier.verifySync(flip(body, bit), headersOf("evt_1", timestamp, mac.toString("hex")))
      assert.strictEqual(outcome(changed), "no_match", `bit ${bit} of the body`)
    }
    for (let bit = 0; bit < mac.length * 8; bit += 1) {
      const changed = () => verifier.verifySync(body, headersOf("evt_1", timestamp, flip(mac, bit).toString("hex")))
      assert.strictEqual(outcome(changed), "no_match", `bit ${bit} of the signature`)
    }
    for (let bit = 0; bit < timestamp.length * 8; bit += 1) {
      const text = flip(Buffer.from(timestamp), bit).toString("latin1")
      const changed = () => verifier.verifySync(body, headersOf("evt_1", text, mac.toString("hex")))
      assert.notStrictEqual(outcome(changed), "ok", `bit ${bit} of the timestamp`)
    }
    for (let bit = 0; bit < secret.length * 8; bit += 1) {
      const text = flip(Buffer.from(secret), bit).toString("latin1")
      const changed = () =>
        createVerifier({ secret: text, now: () => Date.parse(timestamp) }).verifySync(
          body,
          headersOf("evt_1", timestamp, mac.toString("hex"))
        )
      assert.include(["no_match", "bad_secret"], outcome(changed), `bit ${bit} of the secret`)
    }
  })

  it("rejects random webhooks after a random bit was flipped", () => {
    fc.assert(
      fc.property(webhooks, fc.nat(), ({ secret, timestamp, event: { id, body } }, at) => {
        const mac = hmac(secret, timestamp, body)
        const bit = at % (body.length * 8)
        const changed = Buffer.from(body)
        changed[bit >> 3]! ^= 1 << (bit & 7)
        const verifier = createVerifier({ secret, now: () => Date.parse(timestamp) })
        assert.strictEqual(
          outcome(() => verifier.verifySync(changed, headersOf(id, timestamp, mac))),
          "no_match"
        )
      }),
      { numRuns: 1000 * factor }
    )
  })

  it("checks the age in both directions to the millisecond", () => {
    fc.assert(
      fc.property(
        times,
        fc.integer({ min: -700_000, max: 700_000 }),
        fc.integer({ min: 0, max: 600 }),
        (time, age, tolerance) => {
          const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
          const timestamp = time.toISOString()
          const body = Buffer.from('{"id":"evt_1"}')
          const verifier = createVerifier({ secret, toleranceSeconds: tolerance, now: () => time.getTime() + age })
          const expected =
            age > tolerance * 1000 ? "timestamp_too_old" : age < -tolerance * 1000 ? "timestamp_too_new" : "ok"
          const code = outcome(() =>
            verifier.verifySync(body, headersOf("evt_1", timestamp, hmac(secret, timestamp, body)))
          )
          assert.strictEqual(code, expected)
        }
      ),
      { numRuns: 1000 * factor }
    )
  })

  it("throws only WebhookVerificationErrors for random headers", async () => {
    const values = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(undefined, "", ",", "v1=", "evt_1", "2026-11-20T10:00:00Z", `v1=${"a".repeat(64)}`),
      fc.array(fc.string(), { maxLength: 3 }),
      // Values that an untyped caller might pass.
      fc.constantFrom(0, 7, true, null, {}).map((value) => value as unknown as string)
    )
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom("gov-event-id", "Gov-Timestamp", "GOV-SIGNATURE", "__proto__", "constructor")
    )
    const entries = fc.array(fc.tuple(names, values), { maxLength: 8 })
    const verifier = createVerifier({ secret: "whsec_x", now: () => Date.parse("2026-11-20T10:00:00Z") })
    await fc.assert(
      fc.asyncProperty(entries, fc.string({ unit: "binary" }), async (list, body) => {
        assert.notStrictEqual(
          outcome(() => verifier.verifySync(body, list)),
          "ok"
        )
        assert.notStrictEqual(await outcomeOf(verifier.verify(body, Object.fromEntries(list))), "ok")
      }),
      { numRuns: 1000 * factor }
    )
  })

  it("accepts only well-formed timestamps of dates that exist", () => {
    const part = (max: number, digits: number) =>
      fc.integer({ min: 0, max }).map((value) => String(value).padStart(digits, "0"))
    const forms = fc
      .tuple(part(9999, 4), part(14, 2), part(33, 2), part(26, 2), part(63, 2), part(63, 2))
      .map(([year, month, day, hour, minute, second]) => ({ year, month, day, hour, minute, second }))
    fc.assert(
      fc.property(forms, ({ year, month, day, hour, minute, second }) => {
        const text = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`
        const leap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0)
        const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(month) - 1] ?? 0
        const exists =
          Number(day) >= 1 && Number(day) <= days && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
        const verifier = createVerifier({ secret: "whsec_x", toleranceSeconds: Infinity })
        const code = outcome(() => verifier.verifySync("{}", headersOf("evt_1", text, "0".repeat(64))))
        assert.strictEqual(code, exists ? "no_match" : "malformed_timestamp", text)
      }),
      { numRuns: 4000 * factor }
    )
  })
})

describe("The shared buffers", () => {
  const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
  const timestamp = "2026-11-20T10:00:00.000Z"
  const now = () => Date.parse(timestamp)

  it("give the right signature for bodies of any size: bytes, part of a buffer, string", () => {
    const limit = 2 ** 15
    const sizes = fc.oneof(
      fc.integer({ min: 0, max: 3 * limit }),
      ...[Math.round(limit / 3), limit].map((size) => fc.integer({ min: size - 100, max: size + 100 }))
    )
    const units = fc.constantFrom("a", "ż", "€", "🧾", "\u0000", "\uFEFF", "\uD800")
    fc.assert(
      fc.property(secrets, sizes, units, fc.nat({ max: 50 }), (secret, size, unit, offset) => {
        const text = unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
        const bytes = Buffer.from(text)
        const expected = `v1=${hmac(secret, timestamp, bytes)}`
        const wide = new Uint8Array(offset + bytes.length + 9).fill(7)
        wide.set(bytes, offset)
        const part = wide.subarray(offset, offset + bytes.length)
        for (const body of [text, bytes, part, new Uint8Array(bytes).buffer, new DataView(part.slice().buffer)]) {
          assert.strictEqual(signSync({ secret, timestamp, body: body as Uint8Array }), expected)
        }
      }),
      { numRuns: 300 }
    )
  })

  it("give the right signature for a timestamp of any text and length", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 50 }), fc.constantFrom(1, 1000, 20_000), (text, times) => {
        const timestamp = text.repeat(times)
        const body = Buffer.from("{}")
        assert.strictEqual(signSync({ secret, timestamp, body }), `v1=${hmac(secret, timestamp, body)}`)
      }),
      { numRuns: 200 }
    )
  })

  it("are not corrupted by callbacks that verify and sign during a verification", () => {
    const body = (id: string) => Buffer.from(`{"id":"${id}","note":"${id.repeat(50)}"}`)
    const headers = (id: string) => headersOf(id, timestamp, hmac(secret, timestamp, body(id)))
    const other = `${secret}x`.repeat(2)
    const inner = createVerifier({ secret: other, now })
    let interruptions = 0
    const interrupt = () => {
      interruptions += 1
      const bytes = body("evt_inner")
      const signature = signSync({ secret: other, timestamp, body: bytes })
      assert.strictEqual(signature, `v1=${hmac(other, timestamp, bytes)}`)
      assert.strictEqual(inner.verifySync(bytes, headersOf("evt_inner", timestamp, signature.slice(3))).id, "evt_inner")
    }
    const clock = () => {
      interrupt()
      return now()
    }
    // All callbacks that a caller can inject: the clock, getters of headers, and getters of a subclass of Uint8Array.
    class Bytes extends Uint8Array {
      override get length() {
        interrupt()
        return super.length
      }
      override get byteLength() {
        interrupt()
        return super.byteLength
      }
      override get buffer() {
        interrupt()
        return super.buffer
      }
    }
    Object.defineProperty(Bytes.prototype, "BYTES_PER_ELEMENT", {
      get: () => {
        interrupt()
        return 1
      }
    })
    const verifier = createVerifier({ secrets: [`${secret}y`, secret], now: clock })
    for (const id of ["evt_1", "evt_2"]) {
      const asked = Object.defineProperties(
        {},
        Object.fromEntries(
          Object.entries(headers(id)).map(([name, value]) => [
            name,
            {
              enumerable: true,
              get: () => {
                interrupt()
                return value
              }
            }
          ])
        )
      )
      const { event } = verifier.verifySync(new Bytes(body(id)), asked as Record<string, string>)
      assert.deepStrictEqual(event, JSON.parse(body(id).toString()) as unknown)
      const lying = { secret, timestamp, body: new Bytes(body(id)) }
      assert.strictEqual(signSync(lying), `v1=${hmac(secret, timestamp, body(id))}`)
    }
    assert.isAbove(interruptions, 10)
  })

  it("are not used if crypto.hash is missing", () => {
    const { hash: _, ...older } = process.getBuiltinModule("node:crypto")
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(older as never)
    const body = Buffer.from('{"id":"evt_1"}')
    const signature = signSync({ secret, timestamp, body })
    assert.strictEqual(signature, `v1=${hmac(secret, timestamp, body)}`)
    const verifier = createVerifier({ secret, now })
    assert.strictEqual(verifier.verifySync(body, headersOf("evt_1", timestamp, signature.slice(3))).id, "evt_1")
  })
})

describe("signing", () => {
  it("returns what the reference implementation returns, with node:crypto and with Web Crypto", async () => {
    await fc.assert(
      fc.asyncProperty(secrets, timestamps, fc.uint8Array({ maxLength: 300 }), async (secret, timestamp, body) => {
        const expected = `v1=${hmac(secret, timestamp, body)}`
        assert.strictEqual(signSync({ secret, timestamp, body }), expected)
        vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
        const signature = await sign({ secret, timestamp, body })
        vi.restoreAllMocks()
        assert.strictEqual(signature, expected)
      }),
      { numRuns: 400 * factor }
    )
  })
})
