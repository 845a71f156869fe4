import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"

describe("disablePretenuring", () => {
  it("sets known flags, and logs unknown ones without failing", () => {
    const module = new URL("../../src/runtime/v8Flags.ts", import.meta.url).href
    const script = `import(${JSON.stringify(module)}).then(({ disablePretenuring }) => disablePretenuring())`
    const { status, stderr } = spawnSync(process.execPath, ["--eval", script], { encoding: "utf8" })
    assert.deepStrictEqual([status, stderr], [0, ""])
  })
})
