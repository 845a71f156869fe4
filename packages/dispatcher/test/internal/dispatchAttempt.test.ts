/** Faults that no receiver can cause: mistakes in the dispatcher, and impossible errors of undici. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import { DispatchEngine } from "../../src/internal/dispatchEngine.ts"
import { readSettings } from "../../src/internal/settings.ts"
import { makeAttempt } from "../support/attempts.ts"
import { watchFaults } from "../support/faults.ts"
import { cleanup, local, serveRaw, sleep, until } from "../support/servers.ts"

const prepare = () => {
  const made = makeAttempt("https://name.test/")
  made.attempt.start()
  return made
}

describe("An attempt", () => {
  for (const code of ["UND_ERR_INVALID_ARG", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"]) {
    it(`rejected by undici with ${code} is a defect`, () => {
      const { attempt, defects, outcomes } = prepare()
      attempt.onFailed(Object.assign(new Error("x"), { code }))
      assert.deepEqual(outcomes, [])
      assert.strictEqual(defects.length, 1)
      assert.include(defects[0]!, { _tag: "DispatcherError", code: "defect" })
    })
  }

  it("that throws repeatedly is one defect", () => {
    const { attempt, defects, outcomes } = prepare()
    for (let turn = 0; turn < 2; turn++) {
      attempt.guard(() => {
        throw new Error("a mistake")
      })
    }
    assert.strictEqual(defects.length, 1)
    attempt.onFailed(new Error("late"))
    attempt.cancel()
    assert.deepEqual(outcomes, [])
  })
})

describe("An observer that throws inside of undici", () => {
  for (const [when, bytes] of [
    ["the response head", `HTTP/1.0 200 OK\r\n\r\n${"x".repeat(70_000)}`],
    ["an invalid response", "garbage\r\n\r\n"],
    ["the end of the connection", ""]
  ] as const) {
    it(`at ${when} does not reach the process`, async () => {
      const faults = watchFaults()
      const receiver = await serveRaw((socket) => socket.end(bytes))
      const engine = new DispatchEngine(readSettings(local), Context.empty())
      cleanup(() => engine.destroy())
      let called = 0
      const onOutcome = () => {
        called++
        throw new Error("The observer is broken")
      }
      const request = engine.prepare({ url: `http://name.test:${receiver.port}/`, body: "" })
      engine.start(request, { onOutcome, onDefect: () => {}, onDestroyed: () => {} })
      await until(() => called === 1 && receiver.open === 0, "the attempt to end")
      await sleep(20)
      assert.deepEqual(faults, [])
    })
  }
})
