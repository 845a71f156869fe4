import { Environment, KsefClient } from "@govoice/ksef/client"
import { Effect, Result } from "effect"
import dns from "node:dns"
import { once } from "node:events"
import { connect } from "node:net"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import * as SharedLookups from "../../src/runtime/sharedLookups.ts"

describe("Lookups", () => {
  const { lookup } = dns
  let answers: Array<() => void> = []
  let asked: Array<string> = []

  beforeEach(() => {
    answers = []
    asked = []
    dns.lookup = ((hostname: string, _options: object, callback: (...answer: ReadonlyArray<unknown>) => void) => {
      asked.push(hostname)
      const error = Object.assign(new Error("No such name"), { code: "ENOTFOUND" })
      answers.push(() => callback(error))
    }) as never
    SharedLookups.install()
  })
  afterEach(() => {
    dns.lookup = lookup
  })

  const open = async (host: string) => {
    const [error] = (await once(connect({ host, port: 9 }), "error")) as [NodeJS.ErrnoException]
    return error.code
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it("of a name are one for all sockets that wait, and leave room for other names", async () => {
    const first = Array.from({ length: 5 }, () => open("silent.test"))
    const other = open("other.test")
    await turn()
    assert.deepStrictEqual(asked, ["silent.test", "other.test"])
    answers[1]!()
    assert.strictEqual(await other, "ENOTFOUND")
    answers[0]!()
    assert.deepStrictEqual(
      await Promise.all(first),
      Array.from({ length: 5 }, () => "ENOTFOUND")
    )
    const again = open("silent.test")
    await turn()
    assert.strictEqual(asked.length, 3)
    answers[2]!()
    await again
  })

  it("of KSeF are one for all calls that wait", async () => {
    const environment = Result.getOrThrow(Environment.at("https://silent.test/v2"))
    const calls = Effect.scoped(
      Effect.flatMap(KsefClient.make({ environment, userAgent: "Govoice/test" }), ({ publicKeys }) =>
        Effect.all(
          [1, 2, 3].map(() => Effect.flip(publicKeys)),
          { concurrency: "unbounded" }
        )
      )
    )
    const errors = Effect.runPromise(calls)
    while (asked.length === 0) await turn()
    await turn()
    assert.deepStrictEqual(asked, ["silent.test"])
    answers[0]!()
    for (const { reason } of await errors) assert.strictEqual(reason, "lookup-failed")
  })

  it("with other options are others", () => {
    dns.lookup("one.test", { all: true }, () => {})
    dns.lookup("one.test", { family: 4 }, () => {})
    dns.lookup("one.test", () => {})
    assert.strictEqual(asked.length, 3)
  })
})
