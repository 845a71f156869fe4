/** More than 20,000 requests to receivers that send generated responses. */
import { assert, it } from "vitest"
import { runCampaign } from "./fuzz/campaign.ts"

// Failures name the seed and the case: `node --conditions=source test/fuzz/main.ts --seed 1 --first <case> --cases 1`.
it("20,000 generated responses end with a valid outcome, nothing is thrown, and no socket is left", async () => {
  const { confirmed, failures, outcomes, sends } = await runCampaign({ seed: 1, first: 0, cases: 14_000, lanes: 32 })
  assert.deepEqual(failures, [])
  assert.isAbove(sends, 20_000)
  // Known statuses were reported, and each kind of failure occurred.
  assert.isAbove(confirmed, 3_000)
  const labels = ["Delivered", "Refused", "Failed protocol", "Failed reset", "Failed timeout", "Failed tls", "aborted"]
  assert.includeMembers([...outcomes.keys()], labels)
})
