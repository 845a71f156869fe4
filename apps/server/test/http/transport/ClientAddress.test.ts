import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import * as ClientAddress from "../../../src/http/transport/ClientAddress.ts"

describe("ClientAddress.group", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::6", "2001:db8:1:2::/64"],
    ["2001:db8::6", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    [undefined, "unknown"]
  ])("counts %s as %s", (address, group) => {
    assert.strictEqual(ClientAddress.group(address), group)
  })
})

describe("ClientAddress.find", () => {
  const clients = ClientAddress.make(["10.0.0.0/8", "192.0.2.7", "fd00::/8"])
  const find = (peer: string, list?: string, forwarded?: string) =>
    clients.find(peer, { "x-forwarded-for": list, forwarded })

  it.each<[peer: string, list: string | undefined, client: string]>([
    ["10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["192.0.2.7", "203.0.113.9", "203.0.113.9"],
    ["fd00::1", "203.0.113.9", "203.0.113.9"],
    ["10.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9"],
    ["10.0.0.1", "198.51.100.1,203.0.113.9 , 10.4.4.4,fd00::2", "203.0.113.9"],
    ["10.0.0.1", "10.9.9.9, 10.4.4.4", "10.9.9.9"],
    ["10.0.0.1", "203.0.113.9:4711", "203.0.113.9"],
    ["10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
    ["10.0.0.1", "2001:db8::1", "2001:db8::1"],
    ["10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["10.0.0.1", "unknown", "10.0.0.1"],
    ["10.0.0.1", "198.51.100.1, unknown, 10.4.4.4", "10.4.4.4"],
    ["192.0.2.8", "203.0.113.9", "192.0.2.8"],
    ["203.0.113.1", "10.0.0.1", "203.0.113.1"]
  ])("from %s with X-Forwarded-For %s: %s", (peer, list, client) => {
    assert.strictEqual(find(peer, list), client)
  })

  it.each<[forwarded: string, client: string]>([
    ["for=203.0.113.9", "203.0.113.9"],
    ["For=203.0.113.9;proto=https;by=10.0.0.1", "203.0.113.9"],
    ["proto=https; for=203.0.113.9", "203.0.113.9"],
    ['for="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17"],
    ['for=198.51.100.1, for="203.0.113.9:80" , for=10.4.4.4', "203.0.113.9"],
    ['for=198.51.100.1;host="a,for=192.0.2.99", for=203.0.113.9', "203.0.113.9"],
    ["for=198.51.100.1, for=_hidden, for=10.4.4.4", "10.4.4.4"],
    ["by=203.0.113.9", "10.0.0.1"],
    ['for="203.0.113.9', "10.0.0.1"],
    ["for=198.51.100.1, , for=203.0.113.9,for=10.4.4.4", "203.0.113.9"],
    ["for=198.51.100.1;, for=203.0.113.9", "203.0.113.9"],
    ["for=198.51.100.1, for=10.4.4.4,", "10.0.0.1"],
    ['for=198.51.100.1;host="\\",for=192.0.2.99", for=203.0.113.9', "203.0.113.9"],
    // An open quotation of the client swallows what the proxy appends.
    ['for=198.51.100.1;x=", for=203.0.113.9', "10.0.0.1"],
    ['for=198.51.100.1;x=", for="[2001:db8::1]:80"', "10.0.0.1"],
    ['for=198.51.100.1;x="\\, for=203.0.113.9', "10.0.0.1"],
    ["for=198.51.100.1 x, for=203.0.113.9", "10.0.0.1"]
  ])("from a proxy with Forwarded %s: %s", (forwarded, client) => {
    assert.strictEqual(find("10.0.0.1", undefined, forwarded), client)
  })

  it("trusts neither header if they differ, because a proxy maintains only one of them", () => {
    assert.strictEqual(find("10.0.0.1", "203.0.113.9", "for=203.0.113.9"), "203.0.113.9")
    assert.strictEqual(find("10.0.0.1", "203.0.113.9", "for=198.51.100.1"), "10.0.0.1")
  })

  it("trusts no proxy by default", () => {
    assert.strictEqual(ClientAddress.make([]).find("127.0.0.1", { "x-forwarded-for": "203.0.113.9" }), "127.0.0.1")
  })

  it("returns an address that the client cannot choose with any header", () => {
    const hop = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.string({ maxLength: 20 }),
      fc.constantFrom("10.1.1.1", "unknown", '"', "")
    )
    fc.assert(
      fc.property(fc.array(hop, { maxLength: 6 }), fc.ipV4(), (sent, connected) => {
        fc.pre(!clients.isProxy(connected))
        // Proxy 10.0.0.2 appends the client, proxy 10.0.0.1 appends proxy 10.0.0.2.
        const list = [...sent, connected, "10.0.0.2"].join(", ")
        assert.strictEqual(find("10.0.0.1", list), connected)
      }),
      { numRuns: 1000 }
    )
  })

  it("returns an address that the client cannot choose with any Forwarded header", () => {
    const part = fc.constantFrom(
      "for=198.51.100.1",
      ";",
      ",",
      '"',
      "\\",
      "x=",
      " ",
      "for=",
      "[2001:db8::2]",
      "10.4.4.4"
    )
    const appended = fc.constantFrom("for=203.0.113.9", 'for="203.0.113.9:80"', 'proto=https;for="203.0.113.9"')
    let found = 0
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), appended, (sent, hop) => {
        const client = find("10.0.0.1", undefined, `${sent.join("")}, ${hop}`)
        if (client === "203.0.113.9") found++
        // A header that cannot be read counts for the proxy.
        else assert.strictEqual(client, "10.0.0.1")
      }),
      { numRuns: 5000 }
    )
    assert.isAbove(found, 500)
  })

  it("reads a header of 16 KiB without backtracking", () => {
    for (const text of [
      ",".repeat(16_384),
      '"'.repeat(16_384),
      '"\\'.repeat(8000),
      "for=".repeat(4096),
      "10.0.0.1,".repeat(1800),
      `${" ".repeat(16_000)}"`,
      `for=10.0.0.1${" ".repeat(16_000)}"`,
      "a".repeat(16_384)
    ]) {
      const times = Array.from({ length: 5 }, () => {
        const begun = performance.now()
        find("10.0.0.1", text, text)
        return performance.now() - begun
      })
      assert.isBelow(Math.min(...times), 200)
    }
  })
})
