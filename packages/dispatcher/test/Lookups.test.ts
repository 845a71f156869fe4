import { assert, describe, it } from "@effect/vitest"
import {
  blocked,
  delivered,
  dispatcher,
  failed,
  later,
  sendOnce,
  serveHttp,
  sleep,
  stable,
  until
} from "./support/servers.ts"

const never = () => new Promise<never>(() => {})

describe("A lookup", () => {
  it("is made before every attempt", async () => {
    const receiver = await serveHttp()
    let lookups = 0
    const { send } = dispatcher({
      resolve: async () => {
        lookups++
        return ["127.0.0.1"]
      }
    })
    for (let attempt = 0; attempt < 5; attempt++) {
      await send({ url: `http://name.test:${receiver.port}/`, body: "" })
    }
    assert.strictEqual(lookups, 5)
    assert.strictEqual(receiver.connections, 1)
  })

  it("is shared by attempts that ask during the lookup, and by no others", async () => {
    const receiver = await serveHttp()
    const asked: Array<string> = []
    const { send } = dispatcher({
      resolve: async (hostname) => {
        asked.push(hostname)
        await sleep(20)
        return ["127.0.0.1"]
      }
    })
    const sendTo = (name: string) => send({ url: `http://${name}:${receiver.port}/`, body: "" })
    await Promise.all([sendTo("a.test"), sendTo("A.test"), sendTo("a.test."), sendTo("b.test")])
    assert.deepEqual(asked, ["a.test", "b.test"])
    await sendTo("a.test")
    assert.deepEqual(asked, ["a.test", "b.test", "a.test"])
  })

  it("is not made for an address or for localhost", async () => {
    const receiver = await serveHttp()
    const { send } = dispatcher({ resolve: () => Promise.reject(new Error("must not be asked")) })
    for (const host of ["127.0.0.1", "2130706433", "localhost", "a.localhost", "[::ffff:127.0.0.1]"]) {
      const outcome = await send({ url: `http://${host}:${receiver.port}/`, body: "" })
      assert.deepEqual(stable(outcome), delivered(), host)
    }
  })

  it("is not made for a URL that is refused", async () => {
    let lookups = 0
    const { send } = dispatcher({
      resolve: async () => {
        lookups++
        return ["127.0.0.1"]
      }
    })
    assert.deepEqual(stable(await send({ url: "ftp://name.test/", body: "" })), blocked("scheme"))
    assert.deepEqual(stable(await send({ url: "http://metadata.google.internal/", body: "" })), blocked("metadata"))
    assert.deepEqual(stable(await send({ url: "not a URL", body: "" })), blocked("url"))
    assert.strictEqual(lookups, 0)
  })

  it("that hangs ends with the deadline and delays no other name", async () => {
    const receiver = await serveHttp()
    const { send } = dispatcher({
      deadlineMs: 5_000,
      resolve: (hostname) => (hostname === "hang.test" ? never() : Promise.resolve(["127.0.0.1"]))
    })
    let ended = 0
    const stuck = Array.from({ length: 100 }, () =>
      send({ url: `http://hang.test:${receiver.port}/`, body: "" }).finally(() => ended++)
    )
    for (let attempt = 0; attempt < 10; attempt++) {
      const outcome = await send({ url: `http://well.test:${receiver.port}/`, body: "" })
      assert.deepEqual(stable(outcome), delivered())
    }
    assert.strictEqual(ended, 0, "the other name is served before the first times out")
    for (const outcome of await Promise.all(stuck)) {
      assert.deepEqual(stable(outcome), failed("timeout", false))
      assert.isBelow(outcome.durationMs, 20_000)
    }
  })

  it("is aborted when no attempt waits for it any more", async () => {
    const signals: Array<AbortSignal> = []
    const { send } = dispatcher({
      deadlineMs: 50,
      resolve: (_, { signal }) => {
        signals.push(signal)
        return never()
      }
    })
    const url = "http://hang.test/"
    await Promise.all([send({ url, body: "" }), send({ url, body: "", deadlineMs: 100 })])
    assert.strictEqual(signals.length, 1)
    assert.isTrue(signals[0]!.aborted)
    await send({ url, body: "" })
    assert.strictEqual(signals.length, 2)
  })

  it("that hangs is not joined by much later attempts", async () => {
    const receiver = await serveHttp()
    let lookups = 0
    const { send } = dispatcher({
      resolve: () => (++lookups === 1 ? never() : Promise.resolve(["127.0.0.1"]))
    })
    const url = `http://name.test:${receiver.port}/`
    const stuck = send({ url, body: "", deadlineMs: 1_000 })
    await until(() => lookups === 1, "the first lookup")
    later(5_001)
    assert.deepEqual(stable(await send({ url, body: "" })), delivered())
    assert.strictEqual(lookups, 2)
    assert.deepEqual(stable(await stuck), failed("timeout", false))
  })

  it("that is answered after the deadline changes nothing", async () => {
    const receiver = await serveHttp()
    const { send } = dispatcher({
      deadlineMs: 50,
      resolve: async () => {
        await sleep(100)
        return ["127.0.0.1"]
      }
    })
    const outcome = await send({ url: `http://name.test:${receiver.port}/`, body: "" })
    assert.deepEqual(stable(outcome), failed("timeout", false))
    await sleep(100)
    assert.strictEqual(receiver.connections, 0)
  })

  it("with thousands of answers fails, and with many it does not", async () => {
    const receiver = await serveHttp()
    const url = `http://name.test:${receiver.port}/`
    const answers = Array.from({ length: 4_000 }, (_, index) => `127.0.${Math.floor(index / 250)}.${(index % 250) + 1}`)
    assert.deepEqual(stable(await sendOnce(url, { resolve: async () => answers.slice(0, 257) })), failed("dns", false))
    assert.deepEqual(stable(await sendOnce(url, { resolve: async () => answers })), failed("dns", false))
    assert.strictEqual(receiver.connections, 0)
    assert.deepEqual(stable(await sendOnce(url, { resolve: async () => answers.slice(0, 256) })), delivered())
  })

  it("fails if the resolver throws instead of rejecting", async () => {
    const outcome = await sendOnce("http://name.test/", {
      resolve: () => {
        throw new Error("at once")
      }
    })
    assert.deepEqual(stable(outcome), failed("dns", false))
  })

  it("asks for the name in lowercase ASCII", async () => {
    const asked: Array<string> = []
    await sendOnce("http://BÜCHER.example./", {
      resolve: async (hostname) => {
        asked.push(hostname)
        return []
      }
    })
    assert.deepEqual(asked, ["xn--bcher-kva.example"])
  })
})
