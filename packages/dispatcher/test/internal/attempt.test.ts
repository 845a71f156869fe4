/** What no receiver can cause: mistakes of ours, and undici reporting what cannot be. */
import { assert, describe, it } from "@effect/vitest"
import { makeAttempt } from "../support/attempts.ts"

const prepare = () => {
  const made = makeAttempt("https://name.test/")
  made.attempt.start()
  return made
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
