/** Clients that do not read their responses do not delay a victim. They end by themselves: `apiStalledReaders.long.test.ts`. */
import { assert, describe, it } from "vitest"
import { latencies, percentile, usual } from "./support/slow.ts"
import { setUp } from "./support/slowReaders.ts"

describe("slow readers", () => {
  const { assertWereSlow, openSlow, submitOne } = setUp()

  it("leave a victim its latency", async () => {
    const calm = await latencies(2000, submitOne)
    const { idle } = await openSlow()
    const attacked = await latencies(4000, submitOne)
    await assertWereSlow(idle)
    assert.isBelow(percentile(attacked, usual), Math.max(500, 8 * percentile(calm, usual)))
  })
})
