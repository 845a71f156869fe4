/**
 * Tests that are long by nature: fuzzers, kill loops, plans of large tables. A short version of each runs with the others.
 *
 *     npx -y pnpm@12 run test:long
 */
import { defineConfig } from "vitest/config"
import { shared } from "./vitest.config.ts"

export default defineConfig({
  ...shared,
  test: {
    include: ["{packages,apps}/*/test/**/*.long.test.ts", "test/**/*.long.test.ts"],
    exclude: ["**/node_modules/**"],
    globalSetup: ["test/support/postgres.ts", "test/e2e/support/build.ts"],
    // Each of them loads the machine by itself.
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 60_000
  }
})
