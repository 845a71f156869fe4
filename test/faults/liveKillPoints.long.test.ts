import { describe, it } from "vitest"
import { casesOf } from "../support/length.ts"
import { batchSize, isRepresentative, killPoints, runKillPoint } from "./liveKillPoints.ts"
import { setUpConcurrent } from "./support.ts"

// Those of a batch are in liveKillPointsBatch.long.test.ts.
describe.concurrent("a worker of live mode that is killed", () => {
  const withFaults = setUpConcurrent()

  it.each(
    casesOf(
      killPoints.filter(({ documents }) => documents !== batchSize),
      isRepresentative
    )
  )(
    "at $name, $point.at, has each document accepted exactly once",
    ({ documents, isAtStop, isCorrection, isOffline, kind, point }) =>
      withFaults((faults) => runKillPoint(faults, point, documents, kind, { isAtStop, isCorrection, isOffline }))
  )
})
