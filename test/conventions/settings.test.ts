import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { page, path } from "../../docs/settings.ts"

describe("the reference of the settings", () => {
  it("is current (run docs/settings.ts)", () => {
    assert.strictEqual(readFileSync(path, "utf8"), page())
  })
})
