import { startSimulator } from "@govoice/ksef-simulator"
import { assert, describe, it } from "vitest"
import { nipOf } from "../../apps/server/test/support/nips.ts"
import { until } from "./deployment.ts"
import { document } from "./liveKillPoints.ts"
import { setUp } from "./support.ts"

const taxpayers = 20
const perTaxpayer = 5
const all = taxpayers * perTaxpayer

describe("two workers for twenty taxpayers of live mode", () => {
  const faults = setUp()

  it("never work for the same one at once when they are killed in turn, and each document is accepted exactly once", async () => {
    const { deployment } = faults
    const nips = Array.from({ length: taxpayers }, (_, index) => nipOf(index))
    const ksef = await startSimulator({ processingMs: 0 })
    try {
      const live = { GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: ksef.url }
      await deployment.startApi(live)
      const owners = []
      for (const nip of nips) {
        owners.push({
          nip,
          ...(await deployment.liveOrganization({ context: nip, token: ksef.issueToken({ context: nip }) }))
        })
      }
      const startWorker = async () => {
        const worker = await deployment.startWorker(live)
        worker.mayCrash = true
        return worker
      }
      const workers = [await startWorker(), await startWorker()]
      const submitting = (async () => {
        for (let index = 0; index < perTaxpayer; index++) {
          for (const { key, nip } of owners) await deployment.submit(key, "accepted", document(nip, `FV/${index}`))
        }
      })()
      const accepted = () => ksef.ledger.accepted().length
      for (const share of [0.2, 0.4]) {
        await until(`${share * 100} % of the documents`, () => Promise.resolve(accepted() >= all * share), 240_000)
        await workers.shift()!.kill()
        workers.push(await startWorker())
      }
      await submitting
      const left = () => deployment.count("invoices WHERE NOT (status = 'accepted' AND upo_available)")
      await until("the receipts", async () => (await left()) === 0, 240_000)
      for (const worker of workers) await worker.stop()

      assert.lengthOf(new Set(ksef.ledger.accepted().map(({ sha256 }) => sha256)), all)
      assert.strictEqual(accepted(), all)
      assert.strictEqual(await deployment.count("events"), all * 4)
      assert.strictEqual(ksef.ledger.overLimit, 0)
      // A holder sends, reads verdicts and fetches receipts beside each other, each with one call at a time.
      for (const nip of nips) assert.isAtMost(ksef.ledger.maxOverlap(nip), 3, nip)
    } finally {
      await ksef.close()
    }
  })
})
