import { describe, it } from "vitest"
import { batchSize, killPoints, runKillPoint } from "./liveKillPoints.ts"
import { setUpConcurrent } from "./support.ts"

// Those of a batch are in liveKillPointsBatch.long.test.ts.
describe.concurrent("live mode: a worker that is killed", () => {
  const withFaults = setUpConcurrent()

  it.each(killPoints.filter(({ documents }) => documents !== batchSize))(
    "at $name, $point.at: each document is accepted exactly once",
    ({ documents, isAtStop, kind, point }) =>
      withFaults((faults) => runKillPoint(faults, point, documents, kind, isAtStop))
  )
})
