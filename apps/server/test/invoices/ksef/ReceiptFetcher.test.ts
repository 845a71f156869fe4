import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { type LaneProcess, makeProcess } from "../../../src/invoices/ksef/LaneProcess.ts"
import { RateLimitWindows } from "../../../src/invoices/ksef/RateLimitWindows.ts"
import type { LaneContext } from "../../../src/invoices/ksef/LaneContext.ts"
import * as ReceiptFetcher from "../../../src/invoices/ksef/ReceiptFetcher.ts"
import { realSleep } from "../../support/FastClock.ts"
import * as live from "../../support/live.ts"

/** A lane with accepted invoices whose receipts have links, and the number of downloads at once. */
const setUp = (process: LaneProcess, count: number) => {
  const downloads = { running: 0, most: 0, ended: 0 }
  const download = Effect.gen(function* () {
    downloads.running += 1
    downloads.most = Math.max(downloads.most, downloads.running)
    yield* realSleep(5)
    downloads.running -= 1
    downloads.ended += 1
    return { bytes: Buffer.from("<UPO/>") }
  })
  const ids = Array.from({ length: count }, (_, index) => `inv_${index}`)
  const accepted = ids.map((id) => ({ id, sha256: Buffer.alloc(32), session_reference: null, updated_at: new Date() }))
  // A receipt needs these members of the lane alone.
  const context = {
    lane: { nip: "5265877635", windows: new RateLimitWindows({}, { used: {}, blocked: {} }) },
    process,
    accepted,
    receiptsAt: Infinity,
    links: new Map(ids.map((id) => [id, Redacted.make("https://example.com")])),
    organizations: new Map([["org_1", {}]]),
    system: { client: { downloadUpo: () => download }, environment: { name: "test" } },
    store: { write: () => Effect.void },
    wake: () => {},
    wakeDeliveries: Effect.void
  } as unknown as LaneContext
  return { downloads, fetch: ReceiptFetcher.make(context), context }
}

describe("ReceiptFetcher", () => {
  it.effect("downloads by links at half of the concurrency limit of the process, beside its calls", () =>
    Effect.gen(function* () {
      const process = makeProcess(4)
      const { context, downloads, fetch } = setUp(process, 20)
      yield* process.permits.take(4)
      yield* Effect.forkChild(fetch)
      yield* live.poll(
        Effect.sync(() => downloads.ended),
        (ended) => ended === 20
      )
      assert.strictEqual(downloads.most, 2)
      assert.strictEqual(context.links.size, 0)
    })
  )
})
