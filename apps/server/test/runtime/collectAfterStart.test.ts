import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"

const module = new URL("../../src/runtime/collectAfterStart.ts", import.meta.url).href

// Survivors grow the young generation.
const young = `
  import { getHeapSpaceStatistics } from "node:v8"
  const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size
  const large = 16 * 2 ** 20
  const grow = () => {
    const kept = []
    while (young() < large) kept.push({ n: kept.length })
  }
`

const run = (script: string): unknown => {
  const { stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=source", "--input-type=module", "--eval", script],
    {
      cwd: import.meta.dirname,
      encoding: "utf8"
    }
  )
  assert.strictEqual(stderr, "")
  return JSON.parse(stdout)
}

describe("the collection after the start", () => {
  it("shrinks the young generation, and leaves no function to collect behind", () => {
    const result = run(`${young}
      import { runInNewContext } from "node:vm"
      import { collectAll } from ${JSON.stringify(module)}
      grow()
      collectAll()
      console.log(JSON.stringify({ shrank: young() <= large / 4, gc: [typeof gc, runInNewContext("typeof gc")] }))
    `)
    assert.deepStrictEqual(result, { shrank: true, gc: ["undefined", "undefined"] })
  })

  it("waits while the process is busy, and collects once when it is idle", () => {
    const result = run(`${young}
      import { Effect } from "effect"
      import { setTimeout as sleep } from "node:timers/promises"
      import { collectAfterStart } from ${JSON.stringify(module)}
      grow()
      const sizes = {}
      const ended = Effect.runPromise(collectAfterStart)
      const until = performance.now() + 2500
      while (performance.now() < until) {
        const next = performance.now() + 50
        while (performance.now() < next);
        await sleep(1)
      }
      sizes.whileBusy = young()
      await ended
      sizes.whenIdle = young()
      grow()
      await sleep(2500)
      sizes.later = young()
      console.log(JSON.stringify(Object.entries(sizes).map(([when, size]) => [when, size >= large])))
    `)
    assert.deepStrictEqual(result, [
      ["whileBusy", true],
      ["whenIdle", false],
      ["later", true]
    ])
  })
})
