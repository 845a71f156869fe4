import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"

// Workspace packages are read as TypeScript from their `source` condition, so nothing has to be built first.
const conditions = ["source", "module", "node", "development|production"]

export const hooks = "test/support/hooks.ts"

/** The processes that tests start inherit it: Node strips the types of a module, and compiles it, once for all of them. */
export const compileCache = { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled") }

export const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions } }
}

// The files of a project share processes, so that Effect and the sources are loaded once for many of them.
const suite = { env: compileCache, setupFiles: [hooks], isolate: false, testTimeout: 600_000, hookTimeout: 600_000 }
/** As `serve` runs the embedded Postgres (decision 0030). */
export const baselineCompiler = ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]
const all = (suffix: string): Array<string> => [
  `{packages,apps,examples}/*/test/**/*${suffix}.ts`,
  `test/**/*${suffix}.ts`
]

/** The suffix of a file chooses its project. `vitest.long.config.ts` has `*.browser.test.ts`, `*.long.test.ts` and `*.load.test.ts`, `vitest.scale.config.ts` has `*.scale.test.ts`. */
export default defineConfig({
  ...shared,
  test: {
    // Tests of servers wait more than they compute. The Postgres of the tests has connections for thirteen.
    maxWorkers: Math.min(3 * availableParallelism() + 1, 13),
    projects: [
      {
        ...shared,
        test: {
          ...suite,
          name: "unit",
          include: all(".test"),
          exclude: ["**/node_modules/**", "**/*.{browser,database,integration,isolated,load,long,scale}.test.ts"]
        }
      },
      {
        ...shared,
        // They replace modules, which another file of the process may have loaded.
        test: { ...suite, name: "isolated", isolate: true, include: all(".isolated.test") }
      },
      {
        ...shared,
        test: {
          ...suite,
          name: "integration",
          include: all(".{database,integration}.test"),
          execArgv: baselineCompiler,
          globalSetup: ["test/support/postgres.ts", "test/e2e/support/build.ts"]
        }
      }
    ]
  }
})
