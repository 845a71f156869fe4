/**
 * Published bypasses of other libraries and services. Each test repeats what the public advisory describes, as far as one
 * machine allows.
 */
import { assert, describe, it } from "@effect/vitest"
import { type DispatcherOptions, judgeAddress, judgeUrl } from "@govoice/dispatcher"
import { makeAuthority } from "./support/certificates.ts"
import { blocked, delivered, dispatcher, failed, sendOnce, serveHttp, serveHttps, stable } from "./support/servers.ts"

const refusesUrls = (...hosts: ReadonlyArray<string>) => {
  for (const host of hosts) {
    assert.isFalse(judgeUrl(`http://${host}/`, { allowHttp: true }).ok, host)
    assert.isFalse(judgeUrl(`https://${host}:8443/x?y#z`).ok, host)
  }
}

const refusesAddresses = (...addresses: ReadonlyArray<string>) => {
  for (const address of addresses) assert.isFalse(judgeAddress(address).ok, address)
}

const answered = async (...answers: ReadonlyArray<string>) =>
  stable(await sendOnce("http://name.test/", { resolve: async () => answers, allowNetworks: [] }))

describe("The dispatcher does not have the published fault of another library", () => {
  it("CVE-2023-42282, CVE-2024-29415, CVE-2025-59436 and CVE-2025-59437 of ip: text in place of bytes", async () => {
    const spellings = ["0x7f.1", "127.1", "01200034567", "012.1.2.3", "017700000001", "0"]
    refusesUrls(...spellings, "[000:0:0000::01]", "[::fFFf:127.0.0.1]")
    refusesAddresses(...spellings, "000:0:0000::01", "::fFFf:127.0.0.1")
    for (const spelling of spellings) assert.deepEqual(await answered(spelling), blocked("unreadable-address"))
  })

  it("CVE-2021-28918 of netmask and CVE-2021-29921 of Python: a leading zero read as decimal", async () => {
    refusesUrls("012.0.0.1", "0177.0.0.1", "0300.0250.0.1")
    refusesAddresses("012.0.0.1", "010.8.8.8")
    assert.deepEqual(await answered("010.8.8.8"), blocked("unreadable-address"))
  })

  it("CVE-2020-28360 and CVE-2025-8020 of private-ip, CVE-2025-8267 of ssrfcheck: 224/4 is missing", async () => {
    refusesUrls("224.0.0.1", "239.255.255.255", "233.252.0.1")
    assert.deepEqual(await answered("224.0.0.251"), blocked("multicast"))
  })

  it("CVE-2026-43929 of ssrfcheck: the URL parser prints mapped addresses in hexadecimal", () => {
    assert.deepEqual(judgeUrl("https://[::ffff:127.0.0.1]/"), { ok: false, rule: "loopback" })
    assert.deepEqual(judgeUrl("https://[::ffff:7f00:1]/"), { ok: false, rule: "loopback" })
  })

  it("CVE-2025-2691 of nossrf: a name that resolves to a private address", async () => {
    assert.deepEqual(await answered("10.0.0.1"), blocked("private"))
    assert.deepEqual(await answered("127.0.0.1"), blocked("loopback"))
  })

  it("CVE-2022-24825 of smokescreen: a trailing dot and letter case get past a list of names", () => {
    refusesUrls("localhost.", "LOCALHOST", "Metadata.Google.Internal.", "metadata.google.internal")
  })

  it("CVE-2022-29188 of smokescreen: brackets around a name", () => {
    refusesUrls("[localhost]", "[127.0.0.1]", "[metadata.google.internal]")
  })

  it("smokescreen 440a192 and Termix PR 1079: a rule for mapped addresses refuses every IPv4", () => {
    assert.deepEqual(judgeAddress("8.8.8.8", { denyNetworks: ["::ffff:0:0/96"] }), { ok: true })
    assert.deepEqual(judgeAddress("::ffff:8.8.8.8"), { ok: true })
  })

  it("request-filtering-agent #2: IPv6 literals are not checked", () => {
    refusesUrls("[::1]", "[::]", "[fe80::1]", "[fc00::1]")
  })

  it("request-filtering-agent: IPv6 in a deny list is compared by spelling", () => {
    const options = { denyNetworks: ["2606:4700::1"] }
    for (const spelling of ["2606:4700::1", "2606:4700:0:0:0:0:0:1", "2606:4700:0000::0001"]) {
      assert.deepEqual(judgeAddress(spelling, options), { ok: false, rule: "denied-network" })
      assert.deepEqual(judgeUrl(`https://[${spelling}]/`, options), { ok: false, rule: "denied-network" })
    }
  })

  it("request-filtering-agent and ssrf-req-filter: a Unix socket is not filtered", async () => {
    for (const url of ["unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock/"]) {
      assert.deepEqual(judgeUrl(url, { allowHttp: true }), { ok: false, rule: "scheme" })
    }
    // Some clients read this as a path; here it is a host name.
    const asked: Array<string> = []
    const resolve = async (hostname: string) => {
      asked.push(hostname)
      return ["10.0.0.1"]
    }
    assert.deepEqual(stable(await sendOnce("http://unix:/var/run/docker.sock:/", { resolve })), blocked("private"))
    assert.deepEqual(asked, ["unix"])
  })

  it("ssrf-req-filter PR 56: a literal throws outside of any promise", async () => {
    for (const host of ["127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1"]) {
      const outcome = await sendOnce(`http://${host}/`, { allowNetworks: [] })
      assert.strictEqual(outcome._tag, "Blocked")
    }
  })

  it("ssrf-req-filter and request-filtering-agent: an answer that is not an address is used", async () => {
    assert.deepEqual(await answered("not-an-address"), blocked("unreadable-address"))
    assert.deepEqual(await answered("8.8.8.8", "localhost"), blocked("unreadable-address"))
  })

  it("ipaddr.js and agents built on it: ::7f00:1, 4000::1 and 100:0:0:1::1 are unicast", () => {
    refusesUrls("[::7f00:1]", "[4000::1]", "[100:0:0:1::1]")
    refusesAddresses("::7f00:1", "4000::1", "100:0:0:1::1")
  })

  it("CVE-2023-28155 of request: a redirect to another scheme loses the filter", async () => {
    const inside = await serveHttp()
    const authority = makeAuthority()
    const outside = await serveHttps(authority.issue({ names: ["name.test"] }), (_, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${inside.port}/` }).end()
    )
    const outcome = await sendOnce(`https://name.test:${outside.port}/`, { tls: { ca: authority.cert } })
    assert.include(outcome, { _tag: "Refused", status: 302, retryable: false })
    assert.strictEqual(inside.connections, 0)
  })

  it("CVE-2026-35409 of Directus and CVE-2026-2455 of Mattermost: mapped addresses against IPv4 rules", async () => {
    assert.deepEqual(await answered("::ffff:10.0.0.1"), blocked("private"))
    assert.deepEqual(await answered("::ffff:a9fe:a9fe"), blocked("metadata"))
    assert.deepEqual(judgeAddress("::ffff:8.8.8.8", { denyNetworks: ["8.8.8.8"] }), {
      ok: false,
      rule: "denied-network"
    })
  })

  it("CVE-2026-48736 of Symfony: 6to4, Teredo, both NAT64 prefixes and ::/96", () => {
    refusesUrls("[2002:7f00:1::]", "[2001::1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[::7f00:1]")
  })

  it("CVE-2026-44430, CVE-2026-45741, CVE-2026-55187 and others: blocks that IsPrivate of a standard library omits", () => {
    refusesAddresses("64:ff9b::a00:1", "2002:a00:1::", "2001:0:a00:1::", "2606:4700::5efe:a00:1", "fec0::1")
    refusesAddresses("100.64.0.1", "192.0.0.1", "198.18.0.1", "0.1.2.3", "240.0.0.1")
  })

  it("ssrf_filter 1.4.0 and PR 90: missing entries of a list", () => {
    refusesAddresses("::", "2001:2::1", "3fff::1", "5f00::1", "192.88.99.1", "100::1")
  })

  it("ssrf_filter 1.5.0: secrets follow a redirect to another origin", async () => {
    const other = await serveHttp()
    const first = await serveHttp((_, response) =>
      response.writeHead(307, { location: `http://other.test:${other.port}/` }).end()
    )
    await sendOnce(`http://name.test:${first.port}/`, {}, { headers: { authorization: "Bearer x" } })
    assert.strictEqual(other.connections, 0)
  })

  it("CVE-2026-27127 of Craft CMS, GHSA-2x8m-83vc-6wv4 of Flowise: two lookups, the second with another answer", async () => {
    const receiver = await serveHttp()
    let lookups = 0
    const resolve = async () => (++lookups % 2 === 1 ? ["127.0.0.1"] : ["127.0.0.2"])
    const opened: Array<string> = []
    const outcome = await sendOnce(`http://name.test:${receiver.port}/`, {
      resolve,
      onConnect: ({ address }) => opened.push(address)
    })
    assert.deepEqual(stable(outcome), delivered())
    assert.strictEqual(lookups, 1)
    assert.deepEqual(opened, ["127.0.0.1"])
  })

  it("GHSA-cmrh-wvq6-wm9r of n8n-mcp, and its fix: one address is pinned forever", async () => {
    const first = await serveHttp(undefined, { address: "127.0.0.1" })
    const second = await serveHttp(undefined, { address: "127.0.0.2", port: first.port })
    let answer = ["127.0.0.1"]
    const { send } = dispatcher({ resolve: async () => answer })
    const url = `http://name.test:${first.port}/`
    assert.deepEqual(stable(await send({ url, body: "" })), delivered())
    answer = ["127.0.0.2"]
    assert.deepEqual(stable(await send({ url, body: "" })), delivered())
    assert.deepEqual([first.requests.length, second.requests.length], [1, 1])
  })

  it("KeeperHub PR 1269: refusing all of NAT64 breaks networks with IPv6 alone", () => {
    assert.deepEqual(judgeAddress("64:ff9b::808:808"), { ok: true })
  })

  it("Go's idna: superscript digits become an address after the check", () => {
    refusesUrls("¹27.0.0.1", "¹²⁷.⁰.⁰.¹")
  })

  it("GHSA-f4gw-2p7v-4548, CVE-2026-42043, CVE-2024-39338 and CVE-2025-27152 of axios: URLs relative to a base", () => {
    for (const url of ["//127.0.0.1/", "/\\127.0.0.1/", "\\\\127.0.0.1\\", "/path", "?query"]) {
      assert.deepEqual(judgeUrl(url), { ok: false, rule: "url" })
    }
  })

  it("CVE-2022-35949 of undici: a path is taken for a host", async () => {
    const inside = await serveHttp()
    const receiver = await serveHttp()
    await sendOnce(`http://name.test:${receiver.port}//127.0.0.1:${inside.port}/x`)
    assert.strictEqual(inside.connections, 0)
    assert.strictEqual(receiver.requests[0]!.url, `//127.0.0.1:${inside.port}/x`)
  })

  it("CVE-2026-22036 of undici: bodies are decompressed without a limit", async () => {
    const receiver = await serveHttp((_, response) =>
      response.writeHead(200, { "content-encoding": Array.from({ length: 100 }, () => "gzip").join(", ") }).end("x")
    )
    assert.deepEqual(stable(await sendOnce(`http://name.test:${receiver.port}/`)), delivered())
  })

  it("CVE-2026-1525 of undici: two Content-Length headers that differ in case", async () => {
    const headers = { "content-length": "1", "Content-Length": "2" }
    const refused = await dispatcher()
      .send({ url: "http://name.test/", body: "x", headers })
      .catch((error: unknown) => error)
    assert.include(refused, { code: "invalid_request" })
  })

  it("OneUptime #2578 and Skyvern #5920: literals skip the check that names have", async () => {
    const { send } = dispatcher({ allowNetworks: [] })
    assert.deepEqual(stable(await send({ url: "http://[::1]/", body: "" })), blocked("loopback"))
    assert.deepEqual(stable(await send({ url: "http://127.0.0.1/", body: "" })), blocked("loopback"))
  })

  it("undici's DNS interceptor: a full cache skips the checked lookup", async () => {
    const seen: Array<string> = []
    const { send } = dispatcher({
      allowNetworks: [],
      maxTargets: 1,
      resolve: async (hostname) => {
        seen.push(hostname)
        return ["10.0.0.1"]
      }
    })
    for (let index = 0; index < 20; index++) {
      assert.deepEqual(stable(await send({ url: `http://n${index}.test/`, body: "" })), blocked("private"))
    }
    assert.strictEqual(seen.length, 20)
  })

  it("undici: a Host header replaces the name that the certificate is checked against", async () => {
    const options = { tls: { ca: makeAuthority().cert } } satisfies DispatcherOptions
    const refused = await dispatcher(options)
      .send({ url: "https://evil.test/", body: "", headers: { host: "good.test" } })
      .catch((error: unknown) => error)
    assert.include(refused, { code: "invalid_request" })
  })

  it("Svix, Convoy and Node: only allowed answers are used, which hides an attack", async () => {
    assert.deepEqual(await answered("8.8.8.8", "10.0.0.1"), blocked("private"))
  })

  it("Effect's AddressResolver: link-local answers are dropped before they are judged", async () => {
    assert.deepEqual(await answered("8.8.8.8", "fe80::1"), blocked("link-local"))
    assert.deepEqual(await answered("fe80::1%eth0"), blocked("unreadable-address"))
  })

  it("several libraries: an empty answer is taken for an address", async () => {
    assert.deepEqual(await answered(), failed("dns", false))
  })

  it("libraries that refuse too much: public addresses in unusual forms are refused", () => {
    for (const address of ["1.1.1.1", "192.31.196.1", "2606:4700::1", "2620:4f:8000::1", "::ffff:1.1.1.1"]) {
      assert.deepEqual(judgeAddress(address), { ok: true }, address)
    }
  })
})
