/**
 * The rows of the IANA registries, written a second time, and the edges of every row.
 *
 * The guard has a list of refused IPv4 blocks and of allowed IPv6 blocks. This table has the column "globally reachable" of each
 * block as of 2025-10-09.
 */
import * as net from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { badPorts, judgeAddress, judgeUrl } from "@govoice/dispatcher"
import * as fc from "fast-check"
import * as registry from "../src/internal/registry.ts"

// oxfmt-ignore
const unreachable4 = [
  "0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
  "192.0.0.0/29", "192.0.0.8/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.88.99.2/32", "192.168.0.0/16",
  "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32",
  // Not in that registry: multicast.
  "224.0.0.0/4"
]

/** In the registry and reachable, outside of every block above. */
const reachable4 = ["192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24"]

// oxfmt-ignore
const unreachable6 = [
  "::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32", "2001:2::/48", "2001:10::/28",
  "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
  // From the registry of the whole address space: reserved, never assigned.
  "100::/8", "200::/7", "400::/6", "800::/5", "1000::/4", "4000::/3", "6000::/3", "8000::/3", "a000::/3", "c000::/3", "e000::/4",
  "f000::/5", "f800::/6", "fe00::/9", "fec0::/10", "ff00::/8"
]

const reachable6 = [
  "2620:4f:8000::/48",
  "2001:200::/23",
  "2400::/12",
  "2600::/12",
  "2800::/12",
  "2a00::/12",
  "2c00::/12"
]

const number = (text: string) => text.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0)
const dotted = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".")

const edges4 = (cidr: string) => {
  const [base, prefix] = cidr.split("/") as [string, string]
  const size = 2 ** (32 - Number(prefix))
  return [base, dotted(number(base) + Math.floor(size / 2)), dotted(number(base) + size - 1)]
}

const groupsOf = (base: string) => {
  const [head = "", tail = ""] = base.split("::")
  const groups = (text: string) => text.split(":").filter((group) => group !== "")
  const zeros = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => "0")
  return [...groups(head), ...zeros, ...groups(tail)].map((group) => BigInt(`0x${group}`))
}

const edges6 = (cidr: string) => {
  const [base, prefix] = cidr.split("/") as [string, string]
  const first = groupsOf(base).reduce((sum, group) => sum * 0x10000n + group, 0n)
  const write = (value: bigint) =>
    Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - index * 16)) & 0xffffn).toString(16)).join(":")
  const size = 1n << BigInt(128 - Number(prefix))
  return [write(first), write(first + size / 2n), write(first + size - 1n)]
}

const allowed = (address: string) => judgeAddress(address).ok

describe("The IPv4 registry", () => {
  for (const cidr of unreachable4) {
    it(`${cidr} is refused, from its first to its last address`, () => {
      for (const address of edges4(cidr)) assert.isFalse(allowed(address), address)
    })
  }

  for (const cidr of reachable4) {
    it(`${cidr} is allowed, from its first to its last address`, () => {
      for (const address of edges4(cidr)) assert.isTrue(allowed(address), address)
    })
  }

  it("refuses an address if and only if a block contains it", () => {
    const list = new net.BlockList()
    for (const cidr of [...unreachable4, "192.88.99.0/24", "168.63.129.16/32"]) {
      const [base, prefix] = cidr.split("/") as [string, string]
      list.addSubnet(base, Number(prefix))
    }
    const anywhere = fc.integer({ min: 0, max: 2 ** 32 - 1 })
    const nearEdge = fc
      .tuple(fc.constantFrom(...unreachable4), fc.integer({ min: -300, max: 300 }))
      .map(([cidr, distance]) => (number(edges4(cidr)[distance < 0 ? 0 : 2]!) + distance + 2 ** 32) % 2 ** 32)
    fc.assert(
      fc.property(fc.oneof(anywhere, nearEdge), (value) => {
        const address = dotted(value)
        assert.strictEqual(allowed(address), !list.check(address), address)
        assert.strictEqual(allowed(`::ffff:${address}`), !list.check(address), `::ffff:${address}`)
        assert.strictEqual(allowed(`64:ff9b::${address}`), !list.check(address), `64:ff9b::${address}`)
      }),
      { numRuns: 5_000 }
    )
  })
})

describe("The IPv6 registries", () => {
  for (const cidr of unreachable6) {
    it(`${cidr} is refused, from its first to its last address`, () => {
      for (const address of edges6(cidr)) assert.isFalse(allowed(address), address)
    })
  }

  for (const cidr of reachable6) {
    it(`${cidr} is allowed, from its first to its last address`, () => {
      for (const address of edges6(cidr)) assert.isTrue(allowed(address), address)
    })
  }

  it("allow no address outside of 2000::/3 but mapped and NAT64 addresses", () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const [first] = groups
        fc.pre(first! < 0x2000 || first! >= 0x4000)
        assert.isFalse(allowed(groups.map((value) => value.toString(16)).join(":")))
      }),
      { numRuns: 5_000 }
    )
  })
})

describe("Metadata services", () => {
  for (const address of registry.metadataAddresses) {
    it(`${address} is refused with every option`, () => {
      const options = { allowHttp: true, allowNetworks: ["0.0.0.0/0", "::/0"] }
      assert.deepEqual(judgeAddress(address, options), { ok: false, rule: "metadata" })
      const host = address.includes(":") ? `[${address}]` : address
      assert.deepEqual(judgeUrl(`http://${host}/`, options), { ok: false, rule: "metadata" })
    })
  }

  for (const name of registry.metadataNames) {
    it(`${name} is refused with every option`, () => {
      const options = { allowHttp: true, allowNetworks: ["0.0.0.0/0", "::/0"] }
      assert.deepEqual(judgeUrl(`http://${name}/`, options), { ok: false, rule: "metadata" })
      assert.deepEqual(judgeUrl(`http://a.${name.toUpperCase()}./`, options), { ok: false, rule: "metadata" })
    })
  }
})

describe("Ports", () => {
  const said = (port: number, options: Parameters<typeof judgeUrl>[1]) =>
    judgeUrl(`https://example.com:${port}/`, options)

  it("are refused unless allowPorts contains them", () => {
    assert.deepEqual(said(443, { allowPorts: [443, 8443] }), { ok: true })
    assert.deepEqual(said(8443, { allowPorts: [443, 8443] }), { ok: true })
    assert.deepEqual(said(8080, { allowPorts: [443, 8443] }), { ok: false, rule: "port" })
    assert.deepEqual(said(443, { allowPorts: [] }), { ok: false, rule: "port" })
    assert.deepEqual(judgeUrl("http://example.com/", { allowHttp: true, allowPorts: [80] }), { ok: true })
  })

  it("are refused if denyPorts contains them, also if allowPorts does", () => {
    assert.deepEqual(said(8443, { denyPorts: [8443], allowPorts: [8443] }), { ok: false, rule: "port" })
    for (const port of badPorts) assert.deepEqual(said(port, { denyPorts: badPorts }), { ok: false, rule: "port" })
    for (const port of [443, 8443, 3000]) assert.deepEqual(said(port, { denyPorts: badPorts }), { ok: true })
  })

  it("with the number 0 are refused, also if allowPorts contains 0", () => {
    assert.deepEqual(said(0, { allowPorts: [0] }), { ok: false, rule: "port" })
  })
})

describe("judgeUrl", () => {
  it("accepts a URL object", () => {
    assert.deepEqual(judgeUrl(new URL("https://example.com/")), { ok: true })
    assert.deepEqual(judgeUrl(new URL("https://127.1/")), { ok: false, rule: "loopback" })
  })

  it("allows localhost if allowNetworks contains one of its addresses", () => {
    assert.deepEqual(judgeUrl("https://localhost/", { allowNetworks: ["127.0.0.0/8"] }), { ok: true })
    assert.deepEqual(judgeUrl("https://localhost/", { allowNetworks: ["::1"] }), { ok: true })
    assert.deepEqual(judgeUrl("https://localhost/", { allowNetworks: ["10.0.0.0/8"] }), { ok: false, rule: "loopback" })
  })

  it("never throws for any input", () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl(), fc.string(), fc.anything()), (url) => {
        assert.isBoolean(judgeUrl(url as string, { allowHttp: true }).ok)
      }),
      { numRuns: 5_000 }
    )
    fc.assert(
      fc.property(fc.anything(), (address) => {
        assert.isBoolean(judgeAddress(address as string).ok)
      })
    )
  })
})
