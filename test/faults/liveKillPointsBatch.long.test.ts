import { describe, it } from "vitest"
import { batchSize, killPoints, runKillPoint } from "./liveKillPoints.ts"
import { setUp } from "./support.ts"

describe("live mode: a worker that is killed with a batch", () => {
  const faults = setUp()

  it.each(killPoints.filter(({ documents }) => documents === batchSize))(
    "at $name, $point.at: each document is accepted exactly once",
    ({ documents, kind, point }) => runKillPoint(faults, point, documents, kind)
  )
})
