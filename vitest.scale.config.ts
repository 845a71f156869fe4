/**
 * Tests of deployments on several machines, with real programs of the distribution on this one: `*.scale.test.ts`, each file alone.
 * Where a program is missing, they are skipped with a sentence.
 *
 *     npx -y pnpm@12 run test:scale
 */
import { defineConfig } from "vitest/config"
import { compileCache, hooks, shared } from "./vitest.config.ts"

export default defineConfig({
  ...shared,
  test: {
    name: "scale",
    // Names what is skipped, and why.
    reporters: ["verbose"],
    env: compileCache,
    setupFiles: [hooks],
    globalSetup: ["test/e2e/support/build.ts"],
    include: ["test/**/*.scale.test.ts"],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 180_000
  }
})
