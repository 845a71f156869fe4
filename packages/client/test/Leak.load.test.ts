/** Checks for leaks after 10,000 calls. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "../../..")

it("10,000 calls leave a flat heap, no timers and no listeners", () => {
  const args = ["--expose-gc", "--conditions=source", join(import.meta.dirname, "support/leak.ts")]
  const output = execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 120_000 })
  const { calls, grownBytes, listeners, timers } = JSON.parse(output) as Record<string, number>
  assert.strictEqual(calls, 10_000)
  // After 9,000 more calls. Keeping only the requests would take tens of megabytes.
  assert.isBelow(grownBytes!, 2_000_000)
  assert.strictEqual(timers, 0)
  assert.strictEqual(listeners, 0)
})
