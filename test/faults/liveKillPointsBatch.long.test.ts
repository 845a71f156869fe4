import { describe, it } from "vitest"
import { casesOf } from "../support/length.ts"
import { batchSize, isRepresentative, killPoints, runKillPoint } from "./liveKillPoints.ts"
import { setUpConcurrent } from "./support.ts"

describe.concurrent("a worker of live mode that is killed with a batch", () => {
  const withFaults = setUpConcurrent()

  it.each(
    casesOf(
      killPoints.filter(({ documents }) => documents === batchSize),
      isRepresentative
    )
  )("at $name, $point.at, has each document accepted exactly once", ({ documents, isOffline, kind, point }) =>
    withFaults((faults) => runKillPoint(faults, point, documents, kind, { isOffline }))
  )
})
