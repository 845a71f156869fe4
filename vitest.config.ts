import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { MixedSequencer } from "./test/support/MixedSequencer.ts"

// Workspace packages are read as TypeScript from their `source` condition, so nothing has to be built first.
const conditions = ["source", "module", "node", "development|production"]

// Most test files have a process of their own. Node compiles the dependencies once for all of them: about a fifth of what a
// process took to load Effect and the drivers was their compilation.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled")
export const hooks = "test/support/hooks.ts"
const setupFiles = ["test/support/compileCache.ts", hooks]

const unit = ["{packages,apps,examples}/*/test/**/*.test.ts", "test/**/*.test.ts"]
export const notUnit = ["**/node_modules/**", "**/*.{browser,integration,long}.test.ts"]

// Files that share processes, so that Effect and the sources are loaded once for many of them. They start no process and no
// thread, replace no module, close what they open, and what they test keeps no state that another file could see.
// `test/conventions/sharing.test.ts` checks them.
export const sharing = {
  unit: [
    "packages/{api,core}/test/**/*.test.ts",
    "packages/client/test/{CallerStack,ClientErrors,Effect,Faults,Session,TokenSession}.test.ts",
    "packages/dispatcher/test/{Answers.corpus,Backoff,BackoffSchedule,Classification,Diagnostics,Dispatcher}.test.ts",
    "packages/dispatcher/test/{Guard.corpus,Headers,Imports,Lookups,Options,PromiseAndEffectApi}.test.ts",
    "packages/dispatcher/test/{PublishedBypasses,Resolvers,RetryAfter,Unanswered}.test.ts",
    "packages/dispatcher/test/internal/{dispatchAttempt,list,urlCache}.test.ts",
    "packages/ksef/test/{checks,format,protocol,xades,xml}/**/*.test.ts",
    "packages/ksef/test/client/{Environment,handedOut,logs,requests,secrets}.test.ts",
    "packages/ksef/test/crypto/{Oaep,PublicKeys,SessionKey,Sha256}.test.ts",
    "packages/ksef-simulator/test/{auth,batch,control,faults,fidelity,limits,openapi,sessions,state,xades}/**/*.test.ts",
    "packages/webhooks/test/{callerStack,fastAndCompact}.test.ts",
    "apps/console/test/{contrast,percentile,records,sources,steadyRows,url}.test.ts",
    "apps/server/test/{accounts,crypto,settings,webhooks}/**/*.test.ts",
    "apps/server/test/commands/{doctor,preparedHelp}.test.ts",
    "apps/server/test/database/{Cte,Pack,Page,QueryTimeout,SqlErrors}.test.ts",
    "apps/server/test/http/Precompressed.test.ts",
    "apps/server/test/http/{console,middleware}/**/*.test.ts",
    "apps/server/test/http/handlers/{Reference,deliveryFilters}.test.ts",
    "apps/server/test/http/transport/{BodyMemory,ClientAddress}.test.ts",
    "apps/server/test/invoices/{parseJson,readSubmission}.test.ts",
    "apps/server/test/invoices/{live/ksef,sandbox,xml}/**/*.test.ts",
    "apps/server/test/invoices/live/LaneRules.test.ts",
    "apps/server/test/jobs/{Batcher,FairQueue,FairSlots,RetryingBatcher,WorkerGroup}.test.ts",
    "apps/server/test/limits/{ConcurrencyLimit,MemoryTokenBuckets,NetworkWindows}.test.ts",
    "apps/server/test/observability/ThrottledLog.test.ts"
  ],
  integration: [
    "apps/server/test/{accounts,invoices,maintenance,webhooks}/**/*.integration.test.ts",
    "apps/server/test/commands/doctor{Clock,Proxies}.integration.test.ts",
    "apps/server/test/database/{Migrations,PoolerClient,PreparedDatabase}.integration.test.ts",
    "apps/server/test/http/handlers/Operational.integration.test.ts",
    "apps/server/test/jobs/Notifier.integration.test.ts"
  ]
}

export const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions } }
}

const integration = {
  setupFiles,
  // As `serve` runs the embedded Postgres (decision 0030): a file is over before the optimizing compiler pays.
  execArgv: ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"],
  globalSetup: ["test/support/postgres.ts", "test/e2e/support/build.ts"],
  testTimeout: 120_000,
  hookTimeout: 120_000
}

export default defineConfig({
  ...shared,
  test: {
    // Seven files on two processors: tests of servers and browsers wait more than they compute. Five took 401 s, seven 382 s in the same hour.
    // More than thirteen would need more connections than the Postgres of the tests has.
    maxWorkers: Math.min(3 * availableParallelism() + 1, 13),
    // `--sequence.shuffle.files` shuffles with the sequencer of vitest.
    sequence: process.argv.some((option) => option.startsWith("--sequence.shuffle"))
      ? {}
      : { sequencer: MixedSequencer },
    projects: [
      {
        ...shared,
        test: {
          name: "unit",
          setupFiles,
          include: unit,
          exclude: [...notUnit, ...sharing.unit],
          testTimeout: 60_000,
          hookTimeout: 120_000
        }
      },
      {
        ...shared,
        test: {
          name: "unit-shared",
          setupFiles,
          isolate: false,
          include: sharing.unit,
          exclude: notUnit,
          testTimeout: 60_000,
          hookTimeout: 120_000
        }
      },
      {
        ...shared,
        test: {
          ...integration,
          name: "integration",
          include: ["{packages,apps,examples}/*/test/**/*.integration.test.ts", "test/**/*.integration.test.ts"],
          exclude: ["**/node_modules/**", ...sharing.integration]
        }
      },
      {
        ...shared,
        test: { ...integration, name: "integration-shared", isolate: false, include: sharing.integration }
      },
      {
        ...shared,
        test: {
          name: "browser",
          setupFiles,
          include: ["test/browser/**/*.browser.test.ts"],
          globalSetup: [
            "test/support/postgres.ts",
            "test/e2e/support/build.ts",
            "test/browser/support/sharedChromium.ts"
          ],
          testTimeout: 120_000,
          hookTimeout: 120_000
        }
      }
    ]
  }
})
