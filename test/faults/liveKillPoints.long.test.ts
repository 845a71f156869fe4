import { describe, it } from "vitest"
import { killPoints, runKillPoint } from "./liveKillPoints.ts"
import { setUp } from "./support.ts"

describe("live mode: a worker that is killed", () => {
  const faults = setUp()

  it.each(killPoints)("at $name, $point.at: each document is accepted exactly once", ({ documents, kind, point }) =>
    runKillPoint(faults, point, documents, kind)
  )
})
