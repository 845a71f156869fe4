import { assert, describe, it } from "@effect/vitest"
import {
  Dispatcher,
  DispatcherError,
  type DispatcherOptions,
  judgeAddress,
  judgeUrl,
  makeDispatcher,
  OptionParsers,
  type PolicyOptions
} from "@govoice/dispatcher"
import * as Effect from "effect/Effect"

const misspelt = (options: Record<string, unknown>) => options as DispatcherOptions & PolicyOptions

const thrownBy = (run: () => unknown): Error => {
  try {
    run()
  } catch (error) {
    assert.instanceOf(error, Error)
    return error
  }
  throw new Error("nothing was thrown")
}

describe("Unknown options", () => {
  const options = misspelt({ allowNetwork: ["10.0.0.0/8"] })
  const entries = {
    makeDispatcher: () => makeDispatcher(options),
    judgeUrl: () => judgeUrl("https://example.com/", options),
    judgeAddress: () => judgeAddress("192.0.2.1", options),
    "Dispatcher.make": () => Effect.runSync(Effect.scoped(Dispatcher.make(options)))
  }

  for (const [name, run] of Object.entries(entries)) {
    it(`make ${name} throw a TypeError that names them and the nearest option`, () => {
      const error = thrownBy(run)
      assert.instanceOf(error, TypeError)
      assert.include(error.message, "The option does not exist: allowNetwork (did you mean allowNetworks?).")
      assert.include(error.message, "denyNetworks")
    })
  }

  for (const [given, nearest] of [
    ["allowHTTP", "allowHttp"],
    ["denyNetwroks", "denyNetworks"],
    ["deadlineMS", "deadlineMs"],
    ["maxConnectionPerTarget", "maxConnectionsPerTarget"],
    ["resolver", "resolve"],
    ["nat64Prefix", "nat64Prefixes"]
  ] as const) {
    it(`suggest ${nearest} for ${given}`, () => {
      const { message } = thrownBy(() => makeDispatcher(misspelt({ [given]: 1 })))
      assert.include(message, `${given} (did you mean ${nearest}?)`)
    })
  }

  it("without a near name are named alone", () => {
    const { message } = thrownBy(() => makeDispatcher(misspelt({ followRedirects: true })))
    assert.include(message, "The option does not exist: followRedirects. Known: allowHttp, ")
  })

  it("are named all at once", () => {
    const { message } = thrownBy(() => makeDispatcher(misspelt({ denyPort: [25], agent: {} })))
    assert.include(message, "The options do not exist: denyPort (did you mean denyPorts?), agent.")
  })

  it("inside of tls are named with their path", () => {
    const error = thrownBy(() => makeDispatcher(misspelt({ tls: { rejectUnauthorized: false } })))
    assert.instanceOf(error, TypeError)
    assert.include(error.message, "The option does not exist: tls.rejectUnauthorized. Known: tls.ca.")
  })

  it("are unknown even when their value is undefined", () => {
    assert.throws(() => judgeUrl("https://example.com/", misspelt({ allowNetwork: undefined })), TypeError)
  })

  it("named like members of every object are unknown", () => {
    assert.throws(() => makeDispatcher(misspelt({ toString: 1 })), TypeError, "toString")
    assert.throws(() => makeDispatcher(misspelt(JSON.parse('{"__proto__":1}'))), TypeError, "__proto__")
  })

  for (const options of [null, "allowHttp", [], 1]) {
    it(`make ${JSON.stringify(options)} in place of an object throw a TypeError`, () => {
      assert.throws(
        () => makeDispatcher(options as unknown as DispatcherOptions),
        TypeError,
        "options must be an object"
      )
    })
  }

  it("judgeUrl and judgeAddress accept the options of a dispatcher as a whole", () => {
    const whole: DispatcherOptions = { allowNetworks: ["10.0.0.0/8"], deadlineMs: 5_000, tls: {} }
    assert.deepEqual(judgeAddress("10.1.2.3", whole), { ok: true })
    assert.deepEqual(judgeUrl("https://10.1.2.3/", whole), { ok: true })
  })
})

const { nat64Prefixes, networks, ports, proxy } = OptionParsers

describe("OptionParsers", () => {
  it("networks: an address without a prefix is a network of one address", () => {
    assert.deepEqual(networks(["192.0.2.7", "2001:db8::7"]), { ok: true, value: ["192.0.2.7/32", "2001:db8::7/128"] })
  })

  it("networks: the result is in canonical form", () => {
    assert.deepEqual(networks(["10.0.0.0/8", "FD00:0:0::/8"]), { ok: true, value: ["10.0.0.0/8", "fd00::/8"] })
  })

  it("ports: decimal digits from 0 to 65535 are ports", () => {
    assert.deepEqual(ports(["0", "25", "65535"]), { ok: true, value: [0, 25, 65_535] })
  })

  it("nat64Prefixes: an IPv6 prefix of a length of RFC 6052 is accepted", () => {
    assert.deepEqual(nat64Prefixes(["2001:db8:64::/96"]), { ok: true, value: ["2001:db8:64::/96"] })
  })

  it("proxy: the URL is returned unchanged", () => {
    const url = "http://user:p%40ss@10.0.0.7:3128"
    assert.deepEqual(proxy(url), { ok: true, value: url })
  })

  const must = "must list networks in CIDR notation, such as 10.0.0.0/8 or fd00::/8;"
  const prefixes = "must list IPv6 prefixes of 32, 40, 48, 56, 64 or 96 bits, such as 2001:db8:64::/96;"
  const bits = "has bits set after its prefix (write 10.0.0.0/8 or 10.1.2.3, not 10.1.2.3/8)"
  const form = "must be a URL of the form http://user:password@host:port, without a path"
  const faults: ReadonlyArray<readonly [keyof typeof OptionParsers, ReadonlyArray<string>, string]> = [
    ["networks", ["10.0.0.0/8", "10.1.2.3/8"], `${must} entry 2 ${bits}`],
    ["networks", ["fd00::1/8"], `${must} entry 1 ${bits}`],
    ["networks", ["localhost"], `${must} entry 1 is not one`],
    ["networks", ["10.0.0.0/33"], `${must} entry 1 is not one`],
    ["networks", [""], `${must} entry 1 is not one`],
    ["networks", [" 10.0.0.0/8"], `${must} entry 1 is not one`],
    ["ports", ["80", "65536"], "must list ports from 0 to 65535; entry 2 is not one"],
    ["ports", [""], "must list ports from 0 to 65535; entry 1 is not one"],
    ["ports", ["0x50"], "must list ports from 0 to 65535; entry 1 is not one"],
    ["ports", ["080"], "must list ports from 0 to 65535; entry 1 is not one"],
    ["nat64Prefixes", ["2001:db8::/97"], `${prefixes} entry 1 is not one`],
    ["nat64Prefixes", ["10.0.0.0/32"], `${prefixes} entry 1 is not one`],
    ["nat64Prefixes", ["2001:db8::1/96"], `${prefixes} entry 1 ${bits}`],
    ["proxy", ["https://10.0.0.7:3128"], form],
    ["proxy", ["10.0.0.7:3128"], form],
    ["proxy", ["http://10.0.0.7:3128/path"], form]
  ]

  const parse = (name: keyof typeof OptionParsers, given: ReadonlyArray<string>) =>
    name === "proxy" ? proxy(given[0]!) : OptionParsers[name](given)

  for (const [name, given, fault] of faults) {
    it(`${name}: ${JSON.stringify(given)} is a fault that does not repeat the value`, () => {
      assert.deepEqual(parse(name, given), { ok: false, fault })
    })
  }

  const options = {
    networks: (given: ReadonlyArray<string>) => ({ denyNetworks: given }),
    ports: (given: ReadonlyArray<string>) => ({
      denyPorts: given.map((port) => (port === "" ? Number.NaN : Number(port)))
    }),
    nat64Prefixes: (given: ReadonlyArray<string>) => ({ nat64Prefixes: given }),
    proxy: (given: ReadonlyArray<string>) => ({ proxy: given[0]! })
  }

  for (const [name, given, fault] of faults.filter(([, [first = ""]]) => !first.startsWith("0"))) {
    it(`makeDispatcher refuses ${name} ${JSON.stringify(given)} in the same words`, () => {
      const error = thrownBy(() => makeDispatcher(options[name](given)))
      assert.instanceOf(error, DispatcherError)
      assert.strictEqual(error.code, "invalid_options")
      assert.strictEqual(error.message, `${Object.keys(options[name](given))[0]} ${fault}`)
    })
  }

  it("makeDispatcher accepts the networks that OptionParsers return", async () => {
    const read = networks(["10.0.0.0/8", "192.0.2.7", "::ffff:192.0.2.0/120"])
    assert.isTrue(read.ok)
    if (read.ok) await makeDispatcher({ allowNetworks: read.value, denyNetworks: read.value }).close()
  })
})
