/**
 * Tests that are long by nature: fuzzers, kill loops, crash loops, leaks, latencies under attack, plans over many rows, and the
 * combinations of which the suite has representatives. Tests of the suite that take their length from the environment run here at
 * full length.
 *
 *     npx -y pnpm@12 run test:long
 */
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { MixedSequencer } from "./test/support/MixedSequencer.ts"
import { hooks, shared } from "./vitest.config.ts"

const lengths = {
  COMPILERS: "all",
  FAULTS_SECONDS: "6",
  FUZZ_RUNS: "4000",
  HELPS: "all",
  KILLS: "50",
  LOOKS: "all",
  MODEL_RUNS: "60",
  PROPERTY_FACTOR: "5",
  RESUME_RUNS: "25",
  STARTS: "all"
}

// One of these alone leaves a processor idle: it waits for servers and databases, or computes in one process. They judge nothing
// by the time it takes, or run beside others in the suite as well. One more than there are processors run at a time.
const beside = [
  "apps/server/test/database/PreparedDatabase.long.test.ts",
  "apps/server/test/invoices/live/**/!(LiveFairness|LiveLogins|LiveTokens).long.test.ts",
  "apps/server/test/webhooks/{Model,Resume}.integration.test.ts",
  "packages/client/test/Published.test.ts",
  "packages/ksef/test/checks/mutations.long.test.ts",
  "packages/ksef/test/format/XmlValues.test.ts",
  "packages/ksef/test/xml/StrictXml.test.ts",
  "packages/webhooks/test/{fastAndCompact,properties,published}.test.ts",
  "test/browser/{overlays,states}.browser.test.ts",
  "test/browser/sessionTimes.long.test.ts",
  "test/e2e/apiEmbedded.long.test.ts",
  "test/e2e/apiFuzz.integration.test.ts",
  "test/e2e/apiStalledReaders.long.test.ts",
  "test/e2e/demoLive.long.test.ts",
  "test/e2e/{preparedHelp,startup}.integration.test.ts",
  "test/faults/{backups,failOver,interruptions,mixedVersions,pooler}.long.test.ts",
  "test/faults/{keyRotation,killLoop,liveKillPoints,liveKillPointsBatch,liveSecrets,liveTwoWorkers}.long.test.ts"
]

const all = {
  env: Object.fromEntries(Object.entries(lengths).map(([name, value]) => [name, process.env[name] ?? value])),
  setupFiles: [hooks],
  globalSetup: ["test/support/postgres.ts", "test/e2e/support/build.ts", "test/browser/support/sharedChromium.ts"],
  testTimeout: 1_800_000,
  // Of those that are marked as concurrent.
  maxConcurrency: 3,
  hookTimeout: 120_000
}

export default defineConfig({
  ...shared,
  test: {
    sequence: { sequencer: MixedSequencer },
    projects: [
      {
        ...shared,
        test: {
          ...all,
          name: "together",
          include: beside,
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 0 }
        }
      },
      {
        ...shared,
        test: {
          ...all,
          name: "alone",
          include: ["{packages,apps}/*/test/**/*.long.test.ts", "test/**/*.long.test.ts"],
          exclude: ["**/node_modules/**", ...beside],
          maxWorkers: 1,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
