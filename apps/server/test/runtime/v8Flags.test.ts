import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"

const module = new URL("../../src/runtime/v8Flags.ts", import.meta.url).href

const run = (script: string) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8"
  })
  return [status, stdout, stderr]
}

describe("the V8 flags of the server", () => {
  it.each(["disablePretenuring", "disableWasmOptimization", "limitHeapGrowth"])(
    "%s sets flags that V8 knows",
    (name) => {
      assert.deepStrictEqual(run(`(await import(${JSON.stringify(module)})).${name}()`), [0, "", ""])
    }
  )

  it("disableWasmOptimization keeps a hot function on the baseline compiler", () => {
    // A module with one function that returns 42, called until V8 would optimize it; V8 reports each function that it compiles.
    const script = (setUp: string) => `
      import { setFlagsFromString } from "node:v8"
      ${setUp}
      setFlagsFromString("--wasm-tiering-budget=1")
      setFlagsFromString("--wasm-sync-tier-up")
      setFlagsFromString("--trace-wasm-compilation-times")
      const bytes = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11])
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes))
      for (let call = 0; call < 1000; call++) exports.f()
    `
    const setUp = `;(await import(${JSON.stringify(module)})).disableWasmOptimization()`
    const [status, baseline] = run(script(setUp))
    assert.strictEqual(status, 0)
    assert.match(String(run(script(""))[1]), /turbofan/i)
    assert.notMatch(String(baseline), /turbofan/i)
    assert.match(String(baseline), /liftoff/i)
  })
})
