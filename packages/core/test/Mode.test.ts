import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Mode } from "../src/index.ts"

describe("Mode", () => {
  it("accepts test and live only", () => {
    const accepted = ["test", "live", "demo", "Test", "TEST", "", "production", null, undefined, true].filter(
      Schema.is(Mode.Mode)
    )
    assert.deepStrictEqual(accepted, ["test", "live"])
  })
})
