import * as net from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { contains, format, parse, parseNetwork } from "../../src/internal/address.ts"

const hextet = fc.integer({ min: 0, max: 0xffff })
const groups = fc.array(fc.oneof(hextet, fc.constant(0), fc.constant(0xffff)), { minLength: 8, maxLength: 8 })
const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 })

/** Node's own canonical form: what WHATWG prints between brackets. */
const canonical = (text: string) => new URL(`http://[${text}]/`).hostname.slice(1, -1)

describe("Addresses", () => {
  it("are read exactly when Node reads them, but for zones", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ":",
        "::",
        ".",
        "0",
        "1",
        "ffff",
        "FFFF",
        "255",
        "256",
        "00",
        "1.2.3.4",
        "%",
        "g",
        " ",
        "/",
        "12345"
      ),
      fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16))
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 17 }), (pieces) => {
        const text = pieces.join("")
        assert.strictEqual(parse(text) !== undefined, net.isIP(text) !== 0 && !text.includes("%"), text)
      }),
      { numRuns: 20_000 }
    )
  })

  it("of IPv4 are written as they are read", () => {
    fc.assert(
      fc.property(octets, (parts) => {
        const text = parts.join(".")
        assert.strictEqual(format(parse(text)!), text)
      }),
      { numRuns: 2_000 }
    )
  })

  it("of IPv6 are written as URLs write them, however they came", () => {
    fc.assert(
      fc.property(groups, fc.boolean(), fc.boolean(), (values, upper, padded) => {
        const written = values.map((value) => value.toString(16).padStart(padded ? 4 : 1, "0")).join(":")
        const text = upper ? written.toUpperCase() : written
        assert.strictEqual(format(parse(text)!), canonical(text))
        assert.strictEqual(format(parse(canonical(text))!), canonical(text))
      }),
      { numRuns: 5_000 }
    )
  })

  it("may end in the dotted form", () => {
    fc.assert(
      fc.property(octets, (parts) => {
        const text = `64:ff9b::${parts.join(".")}`
        assert.strictEqual(format(parse(text)!), canonical(text))
      })
    )
  })
})

describe("Networks", () => {
  it("contain what Node says they contain", () => {
    fc.assert(
      fc.property(
        groups,
        groups,
        fc.integer({ min: 1, max: 128 }),
        fc.integer({ min: 0, max: 128 }),
        (base, other, prefix, same) => {
          // An address that shares some of its first bits with the base.
          const bits = (values: ReadonlyArray<number>) =>
            values.map((value) => value.toString(2).padStart(16, "0")).join("")
          const text = (all: string) =>
            (all.match(/.{16}/g) ?? []).map((part) => Number.parseInt(part, 2).toString(16)).join(":")
          const first = text(bits(base).slice(0, prefix).padEnd(128, "0"))
          const address = text(bits(base).slice(0, same) + bits(other).slice(same))
          const list = new net.BlockList()
          list.addSubnet(first, prefix, "ipv6")
          const network = parseNetwork(`${first}/${prefix}`)!
          assert.strictEqual(
            contains(network, parse(address)!),
            list.check(address, "ipv6"),
            `${first}/${prefix} ${address}`
          )
        }
      ),
      { numRuns: 5_000 }
    )
  })

  it("of IPv4 contain what Node says they contain", () => {
    const number = fc.integer({ min: 0, max: 2 ** 32 - 1 })
    const text = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".")
    fc.assert(
      fc.property(number, fc.integer({ min: 1, max: 32 }), fc.integer({ min: 0, max: 31 }), (value, prefix, flip) => {
        const first = text((value & (-1 << (32 - prefix))) >>> 0)
        const address = text((value ^ (1 << flip)) >>> 0)
        const list = new net.BlockList()
        list.addSubnet(first, prefix, "ipv4")
        const network = parseNetwork(`${first}/${prefix}`)!
        assert.strictEqual(
          contains(network, parse(address)!),
          list.check(address, "ipv4"),
          `${first}/${prefix} ${address}`
        )
        assert.isTrue(contains(network, parse(text(value))!))
      }),
      { numRuns: 5_000 }
    )
  })

  it("of no bits contain their whole family and nothing of the other", () => {
    assert.isTrue(contains(parseNetwork("0.0.0.0/0")!, parse("255.1.2.3")!))
    assert.isTrue(contains(parseNetwork("::/0")!, parse("ffff::1")!))
    assert.isFalse(contains(parseNetwork("0.0.0.0/0")!, parse("::1")!))
    assert.isFalse(contains(parseNetwork("::/0")!, parse("1.2.3.4")!))
  })

  for (const text of [
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/-1",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/ 8",
    "10.0.0.0/08",
    "10.0.0.1/8",
    "::1/64",
    "10/8",
    "localhost/8",
    "/8",
    ""
  ]) {
    it(`are not read from ${JSON.stringify(text)}`, () => {
      assert.isUndefined(parseNetwork(text))
    })
  }
})
