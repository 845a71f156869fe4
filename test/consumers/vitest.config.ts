/**
 * Installs the packages from their tarballs into projects of users: test runners, frameworks, bundlers, compilers, old Nodes,
 * generated clients. Separate from `pnpm test`, because it builds and installs:
 *
 *     npx -y pnpm@12 run test:consumers
 *
 * `CONSUMERS=all` runs all combinations of which CI has representatives; so do the long tests.
 */
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.consumer.ts"],
    globalSetup: ["support/pack.ts"],
    // They install, compile and build in processes of their own.
    maxWorkers: availableParallelism(),
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})
