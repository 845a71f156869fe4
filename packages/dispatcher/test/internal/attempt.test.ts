/** What no receiver can cause: mistakes of ours, and undici reporting what cannot be. */
import { assert, describe, it } from "@effect/vitest"
import type { DispatcherError, Outcome } from "@govoice/dispatcher"
import * as Context from "effect/Context"
import { Attempt } from "../../src/internal/attempt.ts"
import { Engine } from "../../src/internal/engine.ts"
import { compile } from "../../src/internal/policy.ts"
import { parseTarget } from "../../src/internal/url.ts"
import { cleanup } from "../support/servers.ts"

const prepare = () => {
  const engine = new Engine({ resolve: () => new Promise(() => {}) }, Context.empty())
  cleanup(() => engine.destroy())
  const url = parseTarget("https://name.test/", compile({}))
  if (typeof url === "string") throw new Error(url)
  const outcomes: Array<Outcome> = []
  const defects: Array<DispatcherError> = []
  const attempt = new Attempt(
    engine,
    url,
    { method: "POST", headers: [], body: new Uint8Array(0), deadlineMs: 1_000 },
    {
      onOutcome: (outcome) => outcomes.push(outcome),
      onDefect: (error) => defects.push(error),
      onDestroyed: () => {}
    }
  )
  attempt.start()
  return { attempt, outcomes, defects }
}

describe("An attempt", () => {
  for (const code of ["UND_ERR_INVALID_ARG", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"]) {
    it(`that undici refuses with ${code} is a defect, and not the receiver's fault`, () => {
      const { attempt, defects, outcomes } = prepare()
      attempt.onFailed(Object.assign(new Error("x"), { code }))
      assert.deepEqual(outcomes, [])
      assert.strictEqual(defects.length, 1)
      assert.include(defects[0]!, { _tag: "DispatcherError", code: "defect" })
    })
  }

  it("that cannot be made is a defect, once", () => {
    const { attempt, defects, outcomes } = prepare()
    for (let turn = 0; turn < 2; turn++) {
      attempt.onTurn(() => {
        throw new Error("a mistake")
      })
    }
    assert.strictEqual(defects.length, 1)
    attempt.onFailed(new Error("late"))
    attempt.cancel()
    assert.deepEqual(outcomes, [])
  })
})
