/**
 * Fuzzes the dispatcher from the command line.
 *
 *     node --conditions=source test/fuzz/main.ts [--cases 500000] [--seed N] [--first N] [--lanes N]
 *
 * A failure prints the seed and the numbers of the cases that ran. Run one of them alone with
 * `--seed N --first <number> --cases 1`.
 */
import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { runCampaign } from "./campaign.ts"

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "500000" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
    first: { type: "string", default: "0" },
    lanes: { type: "string", default: "32" }
  }
})
const seed = Number(values.seed)
const cases = Number(values.cases)
const started = performance.now()
const seconds = () => ((performance.now() - started) / 1_000).toFixed(1)

console.log(`seed ${seed}, ${cases} cases`)
const { confirmed, failures, outcomes, sends } = await runCampaign({
  seed,
  cases,
  first: Number(values.first),
  lanes: Math.min(Number(values.lanes), cases),
  onProgress: (done) => {
    if (done % 50_000 === 0) console.log(`${done} cases, ${seconds()} s`)
  }
})
console.log(`${sends} requests in ${seconds()} s, ${confirmed} statuses confirmed`)
for (const [label, count] of [...outcomes].toSorted((left, right) => right[1] - left[1]))
  console.log(`${count} ${label}`)
if (failures.length > 0) {
  console.error(`FAILED with seed ${seed}:`)
  for (const failure of failures) console.error(`- ${failure}`)
} else console.log("No failure.")
// Without it, Node 24.21 sometimes does not end after 100,000 cases: it spins in `Environment::CleanupHandles`, after all
// JavaScript has ended.
process.exit(failures.length > 0 ? 1 : 0)
