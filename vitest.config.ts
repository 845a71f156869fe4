import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

// Workspace packages are read as TypeScript from their `source` condition, so nothing has to be built first.
const conditions = ["source", "module", "node", "development|production"]

export const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions } }
}

export default defineConfig({
  ...shared,
  test: {
    // Two files for each processor: the tests of the server wait more than they compute.
    maxWorkers: 2 * availableParallelism(),
    projects: [
      {
        ...shared,
        test: {
          name: "unit",
          include: ["{packages,apps,examples}/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/*.{browser,integration,long}.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000
        }
      },
      {
        ...shared,
        test: {
          name: "integration",
          include: ["{packages,apps,examples}/*/test/**/*.integration.test.ts", "test/**/*.integration.test.ts"],
          globalSetup: ["test/support/postgres.ts", "test/e2e/support/build.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000
        }
      },
      {
        ...shared,
        test: {
          name: "browser",
          include: ["test/browser/**/*.browser.test.ts"],
          globalSetup: ["test/support/postgres.ts", "test/e2e/support/build.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000
        }
      }
    ]
  }
})
