/**
 * Runs the tests of consumers in all combinations, of which CI has representatives.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { it } from "vitest"

const root = join(import.meta.dirname, "../..")

it("Consumers of every kind install and use the packages", async () => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  await promisify(execFile)(process.execPath, [vitest, "run", "--config", "test/consumers/vitest.config.ts"], {
    cwd: root,
    env: { ...process.env, CONSUMERS: "all" },
    maxBuffer: 64 * 1024 * 1024
  })
})
