/**
 * Tests of the published packages. Separate from `pnpm test`, because they build and install:
 *
 *     npx -y pnpm@12 run test:packaging
 */
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.packaging.ts"],
    globalSetup: ["support/pack.ts"],
    // They install and compile in processes of their own.
    maxWorkers: availableParallelism(),
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})
