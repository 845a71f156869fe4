/** A worker of live mode that is stopped completes what it is sending: nobody has to look up whether KSeF has it. */
import { startSimulator } from "@govoice/ksef-simulator"
import { randomInt } from "node:crypto"
import { assert, describe, it } from "vitest"
import { until } from "./deployment.ts"
import { batchSize, credentialOf, document } from "./liveKillPoints.ts"
import { setUp } from "./support.ts"

describe("a worker of live mode that is stopped", () => {
  const faults = setUp()

  /** Starts a worker with so many documents to send, and stops it once the row of a call is there, which KSeF answers late. */
  const stopDuring = async (
    on: "sendInvoice" | "openOnlineSession" | "openBatchSession" | "closeBatchSession",
    begun: string,
    documents: number,
    ms: number
  ) => {
    const { deployment } = faults
    const ksef = await startSimulator({ processingMs: 0, seed: String(randomInt(1_000_000)) })
    try {
      const live = { GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: ksef.url }
      await deployment.startApi(live)
      const { key } = await deployment.liveOrganization({ context: ksef.nip, ...credentialOf(ksef, "token") })
      for (let index = 0; index < documents; index++) {
        await deployment.submit(key, "accepted", document(ksef.nip, `FV/${index}`), { invoicing_mode: "online" })
      }
      ksef.faults.add({ on, do: "delay", ms, times: 1 })
      const worker = await deployment.startWorker(live)
      await until("the call", async () => (await deployment.count(begun)) > 0, 50_000)
      assert.strictEqual(await worker.stop(), 0)
    } finally {
      await ksef.close()
    }
  }

  it.each([
    ["sends a document", "sendInvoice", 1, "national_submissions WHERE state = 'sending'"],
    ["opens a session", "openOnlineSession", 1, "national_sessions WHERE kind = 'online'"],
    ["opens a batch", "openBatchSession", batchSize, "national_sessions WHERE kind = 'batch'"],
    ["closes a batch", "closeBatchSession", batchSize, "national_sessions WHERE state = 'uploaded'"]
  ] as const)("while it %s has its outcome", async (_name, on, documents, begun) => {
    const { deployment } = faults
    await stopDuring(on, begun, documents, 2000)
    // An opened session was closed again, and a batch has all documents.
    assert.strictEqual(await deployment.count("national_submissions WHERE state = 'sending'"), 0)
    assert.strictEqual(await deployment.count("national_sessions WHERE state IN ('opening', 'abandoned')"), 0)
    const received = on === "openOnlineSession" ? 0 : documents
    assert.strictEqual(await deployment.count("national_submissions WHERE state = 'sent'"), received)
  })

  it("gives the lane back when KSeF does not answer in the time that it has", async () => {
    const { deployment } = faults
    const sending = "national_submissions WHERE state = 'sending'"
    await stopDuring("sendInvoice", sending, 1, 15_000)
    // It is looked up whether KSeF has it, and the invoice says so.
    assert.strictEqual(await deployment.count(sending), 1)
    assert.strictEqual(await deployment.count("invoices WHERE failure IS NOT NULL"), 1)
    assert.strictEqual(await deployment.count("national_lanes WHERE is_leased"), 0)
  })
})
