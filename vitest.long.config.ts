/**
 * Tests that are long by nature: fuzzers, kill loops, crash loops, leaks. Those of the suite that take their length from the
 * environment run here at full length.
 *
 *     npx -y pnpm@12 run test:long
 */
import { defineConfig } from "vitest/config"
import { shared } from "./vitest.config.ts"

const lengths = { FAULTS_SECONDS: "6", FUZZ_RUNS: "4000", KILLS: "50", MODEL_RUNS: "60", RESUME_RUNS: "25" }

export default defineConfig({
  ...shared,
  test: {
    include: [
      "{packages,apps}/*/test/**/*.long.test.ts",
      "test/**/*.long.test.ts",
      "test/e2e/apiFuzz.integration.test.ts",
      "apps/server/test/webhooks/{Model,Resume}.integration.test.ts"
    ],
    exclude: ["**/node_modules/**"],
    env: Object.fromEntries(Object.entries(lengths).map(([name, value]) => [name, process.env[name] ?? value])),
    globalSetup: ["test/support/postgres.ts", "test/e2e/support/build.ts"],
    // Each of them loads the machine by itself.
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 120_000
  }
})
