import { describe, it } from "vitest"
import { isInSuite, killPoints, runKillPoint } from "./liveKillPoints.ts"
import { setUp } from "./support.ts"

// All kill points are in liveKillPoints.long.test.ts and liveKillPointsBatch.long.test.ts.
const few = killPoints.filter(isInSuite)

describe("a worker of live mode that is killed", () => {
  const faults = setUp()

  it.each(few)(
    "at $name, $point.at, has each document accepted exactly once",
    { timeout: 120_000 },
    ({ documents, isOffline, kind, point }) => runKillPoint(faults, point, documents, kind, { isOffline })
  )
})
