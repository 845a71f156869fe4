import { assert, describe, it } from "@effect/vitest"
import { resolveWithDns, resolveWithSystem } from "@govoice/dispatcher"
import { type Records, serveNames } from "./support/names.ts"
import { blocked, delivered, dispatcher, failed, serveHttp, stable } from "./support/servers.ts"

const { signal } = new AbortController()

// The name server runs on the event loop of the test: a short timeout could pass before the loop reads the answer.
const patient = { timeoutMs: 2_000, tries: 1 }
const six = "2606:4700:0:0:0:0:0:1"

const resolving = async (a: Records, aaaa: Records) => {
  const { asked, server } = await serveNames((_, type) => (type === "A" ? a : aaaa))
  const resolve = resolveWithDns({ servers: [server], ...patient })
  const answer = await resolve("name.test", { signal }).catch((error: NodeJS.ErrnoException) => error.code)
  return { answer, asked }
}

describe("resolveWithDns", () => {
  it("asks for both address families, and for the name without a search domain", async () => {
    const { asked } = await resolving(["127.0.0.1"], [])
    assert.sameMembers(asked, ["A name.test", "AAAA name.test"])
  })

  it("returns addresses of the two families in turns, IPv4 first", async () => {
    const { answer } = await resolving(["127.0.0.1", "127.0.0.2", "127.0.0.3"], [six])
    assert.deepEqual(answer, ["127.0.0.1", "2606:4700::1", "127.0.0.2", "127.0.0.3"])
  })

  for (const [what, aaaa] of [
    ["has no records", []],
    ["does not exist", "NXDOMAIN"],
    ["fails", "SERVFAIL"],
    ["is not answered", "silence"]
  ] as const) {
    it(`returns IPv4 alone when IPv6 ${what}`, async () => {
      assert.deepEqual((await resolving(["127.0.0.1"], aaaa)).answer, ["127.0.0.1"])
    })
  }

  it("returns IPv6 alone when there is no IPv4", async () => {
    assert.deepEqual((await resolving([], [six])).answer, ["2606:4700::1"])
  })

  it("does not wait for all tries of one family when the other was answered", async () => {
    for (const [silent, expected] of [
      ["AAAA", "127.0.0.1"],
      ["A", "2606:4700::1"]
    ] as const) {
      const { server } = await serveNames((_, type) =>
        type === silent ? "silence" : type === "A" ? ["127.0.0.1"] : [six]
      )
      const started = performance.now()
      assert.deepEqual(await resolveWithDns({ servers: [server] })("name.test", { signal }), [expected])
      // All tries take about 5 s.
      assert.isBelow(performance.now() - started, 3_000)
    }
  })

  it("fails with the more specific code", async () => {
    assert.strictEqual((await resolving("NXDOMAIN", "NXDOMAIN")).answer, "ENOTFOUND")
    assert.strictEqual((await resolving("SERVFAIL", "SERVFAIL")).answer, "ESERVFAIL")
    assert.strictEqual((await resolving("silence", "silence")).answer, "ETIMEOUT")
    assert.strictEqual((await resolving([], "SERVFAIL")).answer, "ESERVFAIL")
    assert.strictEqual((await resolving([], [])).answer, "ENODATA")
  })

  it("gives a dispatcher the answers by which requests are delivered, blocked or failed", async () => {
    const receiver = await serveHttp()
    const records: Record<string, Records> = {
      "good.test": ["127.0.0.1"],
      "bad.test": ["10.0.0.1"],
      "mixed.test": ["127.0.0.1", "169.254.169.254"],
      "gone.test": "NXDOMAIN",
      "empty.test": [],
      "broken.test": "SERVFAIL",
      "hang.test": "silence"
    }
    const { server } = await serveNames((name, type) => (type === "A" ? records[name]! : []))
    const { send } = dispatcher({ resolve: resolveWithDns({ servers: [server], ...patient }) })
    const sendTo = async (name: string) => stable(await send({ url: `http://${name}:${receiver.port}/`, body: "" }))
    assert.deepEqual(await sendTo("good.test"), delivered())
    assert.deepEqual(await sendTo("bad.test"), blocked("private"))
    assert.deepEqual(await sendTo("mixed.test"), blocked("metadata"))
    assert.deepEqual(await sendTo("gone.test"), failed("dns", false))
    assert.deepEqual(await sendTo("empty.test"), failed("dns", false))
    assert.deepEqual(await sendTo("broken.test"), failed("dns", false))
    assert.deepEqual(await sendTo("hang.test"), failed("dns", false))
  })

  it("delays no name for another whose server does not answer", async () => {
    const receiver = await serveHttp()
    const { server } = await serveNames((name, type) =>
      name !== "well.test" ? "silence" : type === "A" ? ["127.0.0.1"] : []
    )
    const { send } = dispatcher({ resolve: resolveWithDns({ servers: [server], timeoutMs: 5_000, tries: 1 }) })
    // Far more than the threads of getaddrinfo.
    let ended = 0
    const stuck = Array.from({ length: 40 }, (_, index) =>
      send({ url: `http://hang${index}.test/`, body: "" }).finally(() => ended++)
    )
    const outcome = await send({ url: `http://well.test:${receiver.port}/`, body: "" })
    assert.deepEqual(stable(outcome), delivered())
    assert.strictEqual(ended, 0, "the other name is served before the first times out")
    for (const outcome of await Promise.all(stuck)) assert.deepEqual(stable(outcome), failed("dns", false))
  })
})

describe("resolveWithSystem", () => {
  it("asks the operating system, which resolves its own name", async () => {
    const answer = await resolveWithSystem()("localhost", { signal })
    assert.isTrue(answer.some((address) => address === "127.0.0.1" || address === "::1"))
  })
})
