import { assert, describe, it } from "@effect/vitest"
import { answers } from "./corpus/answers.ts"
import { blocked, delivered, dispatcher, failed, serveHttp, stable } from "./support/servers.ts"

describe("DNS answers", () => {
  for (const { name, reason, steps } of answers) {
    it(`${name}: ${reason}`, async () => {
      const first = await serveHttp()
      const second = await serveHttp(undefined, { address: "127.0.0.2", port: first.port })
      const receivers = { "127.0.0.1": first, "127.0.0.2": second }
      const opened: Array<string> = []
      let answer: unknown
      const { send } = dispatcher({
        resolve: async () => {
          if (answer instanceof Error || answer === "a string") throw answer
          return answer as ReadonlyArray<string>
        },
        onConnect: ({ address }) => opened.push(address)
      })

      for (const step of steps) {
        answer = step.answer
        const before = { "127.0.0.1": first.requests.length, "127.0.0.2": second.requests.length }
        const socketsBefore = opened.length
        const outcome = stable(await send({ url: `http://name.test:${first.port}/`, body: "{}" }))

        if (typeof step.expected === "object" && "reached" in step.expected) {
          assert.deepEqual(outcome, delivered())
          for (const [address, receiver] of Object.entries(receivers)) {
            const came = receiver.requests.length - before[address as keyof typeof before]
            assert.strictEqual(came, address === step.expected.reached ? 1 : 0, address)
          }
        } else {
          assert.deepEqual(outcome, step.expected === "dns" ? failed("dns", false) : blocked(step.expected.blocked))
          assert.strictEqual(opened.length, socketsBefore)
        }
      }
      // One connection for each address: no new one while an open one is still in the answer.
      assert.strictEqual(new Set(opened).size, opened.length)
      assert.strictEqual(first.connections + second.connections, opened.length)
    })
  }
})
