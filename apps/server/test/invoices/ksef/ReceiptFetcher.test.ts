import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { CallFailed, type Failure } from "../../../src/invoices/ksef/CallFailure.ts"
import { type LaneProcess, makeProcess } from "../../../src/invoices/ksef/LaneProcess.ts"
import { RateLimitWindows } from "../../../src/invoices/ksef/RateLimitWindows.ts"
import type { LaneContext } from "../../../src/invoices/ksef/LaneContext.ts"
import type { Changes, SubmissionChange } from "../../../src/invoices/ksef/laneRows.ts"
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
  // The cast: a lane has many more members, which nothing here reads.
  const context = {
    lane: { context: "5265877635", windows: new RateLimitWindows({}, { used: {}, blocked: {} }) },
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

/** What a receipt without a link needs. */
const submission = {
  session_reference: "session",
  submission_reference: "invoice",
  session_organization_id: "org_1",
  original_session: null,
  receipt_count: 0,
  completed_at: new Date()
}

/** A lane with accepted invoices whose receipts have no links, and which KSeF does not return. */
const setUpFailing = (failure: Failure, count = 1) => {
  const { context } = setUp(makeProcess(), count)
  const written: Array<SubmissionChange> = []
  // The cast: as above.
  const asking = ReceiptFetcher.make({
    ...context,
    accepted: context.accepted.map((row) => ({ ...row, ...submission })),
    links: new Map(),
    logins: { accessToken: () => Effect.succeed(Redacted.make("token")) },
    call: () => Effect.fail(new CallFailed({ call: "invoiceUpo", failure, until: 0 })),
    store: {
      write: (_: unknown, { submissions = [] }: Changes) => Effect.sync(() => void written.push(...submissions))
    },
    system: { client: { invoiceUpo: () => Effect.void }, environment: { name: "test" } }
  } as unknown as LaneContext)
  return { asking, written }
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

  it.effect("asks again for a receipt that this login cannot read: the next one may", () =>
    Effect.gen(function* () {
      const { asking, written } = setUpFailing({ _tag: "not-readable", message: "" })
      yield* asking
      assert.instanceOf(written[0]?.dueAt, Date)
    })
  )

  it.effect("does not count as a request what the limits of KSeF leave no room for", () =>
    Effect.gen(function* () {
      const full = { _tag: "postponed", code: "gateway_limit", message: "" } as const
      const { asking, written } = setUpFailing(full, 3)
      yield* asking
      assert.deepStrictEqual(
        written.map(({ receiptCount }) => receiptCount),
        [undefined, undefined, undefined]
      )
      assert.isTrue(written.every(({ dueAt }) => dueAt instanceof Date))
    })
  )

  it.effect("logs that KSeF has no receipts to read, once", () =>
    Effect.gen(function* () {
      const lines: Array<unknown> = []
      const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
      const { asking, written } = setUpFailing({ _tag: "unavailable", wasSent: true, message: "KSeF failed." }, 3)
      yield* Effect.provide(asking, logger)
      assert.deepStrictEqual(lines.flat(), ["Receipts cannot be read from KSeF; they are asked for again"])
      assert.lengthOf(written, 3)
    })
  )
})
