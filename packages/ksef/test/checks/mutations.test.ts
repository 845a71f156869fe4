import { assert, describe, it } from "@effect/vitest"
import { run } from "./mutations.ts"

describe("a mutated document", () => {
  it("has the verdict of libxml2, in bounded time, with bounded messages", async () => {
    assert.isAbove(await run(300, 1), 200)
  })
})
