import { assert, describe, it } from "@effect/vitest"
import { run } from "./mutations.ts"

describe("10,000 mutated documents", () => {
  it("have the verdict of libxml2, in bounded time, with bounded messages", async () => {
    assert.isAbove(await run(10_000, 20_261_122), 7000)
  })
})
