/**
 * Tests that are long by nature: fuzzers, kill loops, crash loops, leaks, plans over many rows, what starts many processes, and the
 * combinations of which the suite has representatives (`*.long.test.ts`); the console in Chromium (`*.browser.test.ts`); response times and memory under load (`*.load.test.ts`), each file alone. Suites that
 * every database has to pass (`*.database.test.ts`) run here on the embedded one. Tests of the suite that take their length from the
 * environment run at full length.
 *
 *     npx -y pnpm@12 run test:long
 *
 * With `LENGTH=short`, as in `.ci/run`, loops are shorter, and representatives run of what takes minutes (`test/support/length.ts`).
 */
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { baselineCompiler, compileCache, hooks, shared } from "./vitest.config.ts"

const isShort = process.env["LENGTH"] === "short"

const lengths = isShort
  ? { FAULTS_SECONDS: "2", KILLS: "10", LENGTH: "short", SEEDS: "2" }
  : {
      COMPILERS: "all",
      CUTS: "30000",
      DEATHS: "1",
      FAULTS_SECONDS: "6",
      FUZZ_RUNS: "4000",
      KILLS: "50",
      LOOKS: "all",
      MODEL_RUNS: "60",
      PROPERTY_FACTOR: "5",
      RATES: "all",
      RESUME_RUNS: "25",
      STARTS: "all"
    }

/** Files of the suite that read a length. */
const lengthened = [
  "apps/server/test/deliveries/{Model,Resume}.integration.test.ts",
  "apps/server/test/invoices/ksef/rush.test.ts",
  "packages/client/test/Published.test.ts",
  "packages/ksef/test/format/XmlValues.test.ts",
  "packages/ksef/test/xml/StrictXml.test.ts",
  "packages/webhooks/test/{fastAndCompact,properties,published}.test.ts",
  "test/e2e/{apiCuts,apiFuzz}.database.test.ts"
]

const all = {
  env: {
    ...compileCache,
    ...Object.fromEntries(Object.entries(lengths).map(([name, value]) => [name, process.env[name] ?? value]))
  },
  setupFiles: [hooks],
  globalSetup: ["test/support/postgres.ts", "test/e2e/support/build.ts", "test/browser/support/sharedChromium.ts"],
  testTimeout: 900_000,
  // Of those that are marked as concurrent.
  maxConcurrency: 3,
  hookTimeout: 600_000
}

export default defineConfig({
  ...shared,
  test: {
    projects: [
      {
        ...shared,
        test: {
          ...all,
          name: "long",
          include: [
            "{packages,apps}/*/test/**/*.long.test.ts",
            "test/**/*.long.test.ts",
            ...(isShort ? [] : lengthened)
          ],
          exclude: ["**/node_modules/**", ...(isShort ? ["test/consumers/all.long.test.ts"] : [])],
          // They wait for servers and databases half of the time.
          maxWorkers: 2 * availableParallelism(),
          sequence: { groupOrder: 0 }
        }
      },
      {
        ...shared,
        test: {
          ...all,
          name: "embedded",
          env: { ...all.env, DATABASE: "embedded" },
          include: [
            "apps/server/test/**/*.database.test.ts",
            "test/**/*.database.test.ts",
            "apps/server/test/**/LanePlans.long.test.ts"
          ],
          execArgv: baselineCompiler,
          isolate: false,
          maxWorkers: 2 * availableParallelism(),
          sequence: { groupOrder: 0 }
        }
      },
      {
        ...shared,
        test: {
          ...all,
          name: "browser",
          include: ["test/browser/**/*.browser.test.ts"],
          isolate: false,
          // They wait for pages more than they compute.
          maxWorkers: 3 * availableParallelism(),
          sequence: { groupOrder: 1 }
        }
      },
      {
        ...shared,
        test: {
          ...all,
          name: "load",
          include: ["{packages,apps}/*/test/**/*.load.test.ts", "test/**/*.load.test.ts"],
          maxWorkers: 1,
          // A measurement that was taken while the machine was busy with something else is taken again.
          retry: { count: 2, condition: /to be below/ },
          sequence: { groupOrder: 2 }
        }
      }
    ]
  }
})
