import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { type KsefClient, KsefError } from "@govoice/ksef/client"
import { ErrorCodes, Problem } from "@govoice/ksef/protocol"
import { Deferred, Effect, Logger, Metric, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as BatchSender from "../../../src/invoices/ksef/BatchSender.ts"
import * as BatchSessions from "../../../src/invoices/ksef/BatchSessions.ts"
import { CallFailed } from "../../../src/invoices/ksef/CallFailure.ts"
import * as KsefMetrics from "../../../src/invoices/ksef/KsefMetrics.ts"
import { makeProcess } from "../../../src/invoices/ksef/LaneProcess.ts"
import type { LaneContext } from "../../../src/invoices/ksef/LaneContext.ts"
import { RateLimitWindows } from "../../../src/invoices/ksef/RateLimitWindows.ts"
import type { Changes, SubmissionRow, WaitingInvoice } from "../../../src/invoices/ksef/laneRows.ts"
import * as StatusRules from "../../../src/invoices/ksef/StatusRules.ts"
import { realSleep } from "../../support/FastClock.ts"
import * as live from "../../support/live.ts"

const organizationId = "org_1" as Ids.OrganizationId
const id = "inv_1" as Ids.InvoiceId
const giveUpMs = 168 * 3_600_000

const closed = Effect.succeed<KsefClient.Warned>({ warnings: [] })

interface Batch {
  /** The invoices that may be sent. */
  readonly begun?: ReadonlyArray<Ids.InvoiceId>
  /** The submissions of the invoice before that of the batch. */
  readonly earlier?: ReadonlyArray<Partial<SubmissionRow>>
  /** The status of the batch of an earlier holder. */
  readonly status?: number
}

/** A lane of one organization, and what it writes while it sends a batch of one invoice. */
const setUp = (
  process = makeProcess(32),
  uploadPart: Effect.Effect<void, KsefError> = Effect.void,
  closeBatch: Effect.Effect<KsefClient.Warned, CallFailed> = closed,
  columns: Partial<SubmissionRow> = {},
  { begun = [id], earlier = [], status = 100 }: Batch = {}
) => {
  const written: Array<Changes> = []
  const member = {
    id,
    status: "submitting",
    attempt_count: 1,
    updated_at: new Date(0),
    first_failed_at: null,
    has_attachment: false,
    submission_id: "1",
    submission_state: "sending",
    submission_reference: null,
    session_id: "1",
    sha256: new Uint8Array(32),
    code: null,
    handed_over_at: new Date(0),
    ...columns
  }
  const uploaded = {
    id: "1",
    organization_id: organizationId,
    kind: "batch",
    state: "uploaded",
    reference: "session",
    created_at: new Date(0),
    due_at: new Date(0),
    check_count: 0,
    unreadable_since: null
  }
  // A batch needs these members of the lane alone.
  const context = {
    hasUnfinishedSessions: true,
    lane: { context: "5265877635", windows: new RateLimitWindows({}, { used: {}, blocked: {} }) },
    process,
    store: {
      beginSession: () => Effect.succeed("1"),
      documents: () => Effect.succeed([{ id, xml: "<Faktura/>" }]),
      beginBatch: () => Effect.succeed(begun),
      members: () => Effect.succeed([member]),
      submissionsOf: () => Effect.succeed([member, ...earlier]),
      referencesOf: () => Effect.succeed([]),
      unfinishedSessions: () => Effect.succeed([uploaded]),
      write: (_: unknown, changes: Changes) => Effect.sync(() => void written.push(changes))
    },
    system: {
      client: {
        openBatch: () => Effect.succeed({ referenceNumber: "session", partUploadRequests: [{}] }),
        uploadPart: () => uploadPart,
        closeBatch: () => closeBatch,
        sessionStatus: () => Effect.succeed({ status: { code: status } }),
        sessionInvoices: () => Effect.succeed({ invoices: [] })
      }
    },
    keys: { get: () => Effect.succeed({}) },
    call: (_: unknown, effect: Effect.Effect<unknown>) => effect,
    logins: { accessToken: () => Effect.succeed(Redacted.make("token")) },
    organizations: new Map([[organizationId, { id: organizationId }]]),
    wake: () => {},
    wakeDeliveries: Effect.void
  } as unknown as LaneContext
  // The size of a batch depends on these columns alone; the others are not read.
  const waiting = [{ id, bytes: 10, batch_limit: null }] as unknown as ReadonlyArray<WaitingInvoice>
  const send = BatchSender.send(context, organizationId, "FA (3)", waiting)
  const hasState = (wanted: string) =>
    written.some(({ sessions = [] }) => sessions.some(({ state }) => state === wanted))
  const transitions = () => written.flatMap((changes) => changes.transitions ?? []).map(({ transition }) => transition)
  return { poll: BatchSessions.poll(context), send, written, hasState, transitions }
}

const closeRefusedBy = (code: number) => {
  const action = ErrorCodes.errorCode("closeBatch", code)?.action ?? "defect"
  return new CallFailed({
    call: "closeBatch",
    until: 0,
    failure: { _tag: "code", code, action, refusal: undefined, message: "refused" }
  })
}

const timeout = new KsefError({ call: "uploadPart", outcome: "unknown", reason: "timeout", message: "timeout" })

const firewall = new KsefError({
  call: "uploadPart",
  outcome: "answered",
  reason: "forbidden",
  message: "no",
  problem: Problem.read("<html><body>Request blocked</body></html>")
})

// Archives are compressed beside the clock of the test.
const happens = (check: () => boolean) => live.poll(Effect.sync(check), (isTrue) => isTrue)

describe("BatchSender", () => {
  it.effect("marks the members of a batch before the verdict step can read it", () =>
    Effect.gen(function* () {
      const { send, written } = setUp()
      yield* send
      const sentAt = written.findIndex(({ submissions = [] }) => submissions.some(({ state }) => state === "sent"))
      const dueAt = written.findIndex(({ sessions = [] }) => sessions.some((session) => session.dueAt !== null))
      assert.isAtLeast(sentAt, 0)
      assert.isAbove(dueAt, sentAt)
      assert.deepInclude(written[dueAt]?.sessions?.[0], { id: "1", state: "closed" })
    })
  )

  it.effect("releases its slot a minute after a stall if another batch waits, and after 15 minutes if none does", () =>
    Effect.gen(function* () {
      const process = makeProcess(32)
      let uploads = 0
      const stalling = Effect.suspend(() => {
        uploads += 1
        return Effect.delay(Effect.fail(timeout), "60 seconds")
      })
      const [first, second] = [setUp(process, stalling), setUp(process, stalling)]
      const next = setUp(process)
      yield* Effect.forkChild(first.send)
      yield* happens(() => uploads === 1)
      yield* TestClock.adjust("5 minutes")
      assert.isFalse(first.hasState("abandoned"), "it is tried again while no other batch waits")
      const uploadsOfFirst = uploads
      yield* Effect.forkChild(second.send)
      yield* happens(() => uploads === uploadsOfFirst + 1)
      yield* Effect.forkChild(next.send)
      yield* happens(() => process.batches.isContended)
      yield* TestClock.adjust("1 minute")
      yield* happens(() => next.hasState("closed"))
      assert.isTrue(first.hasState("abandoned"))
      yield* TestClock.adjust("17 minutes")
      assert.isTrue(second.hasState("abandoned"))
      assert.isFalse(process.batches.isContended)
    })
  )

  it.effect("shows an upload that gets no answer before it is given up", () =>
    Effect.gen(function* () {
      const process = makeProcess(32)
      let uploads = 0
      // A stop waits for a batch.
      const answer = yield* Deferred.make<void>()
      const silent = Effect.suspend(() => {
        uploads += 1
        return Deferred.await(answer)
      })
      yield* Effect.forkChild(setUp(process, silent).send)
      yield* happens(() => uploads === 1)
      yield* TestClock.adjust("19 seconds")
      assert.isUndefined(process.troubles.reasons("5265877635"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(process.troubles.reasons("5265877635")?.send?.code, "gateway_unavailable")
      yield* Deferred.succeed(answer, undefined)
    })
  )

  it.effect("opens no batch for a minute after a failed upload, and for two after the next", () =>
    Effect.gen(function* () {
      const process = makeProcess(32)
      const refused = new KsefError({ call: "uploadPart", outcome: "answered", reason: "forbidden", message: "no" })
      const waitAfter = (upload: Effect.Effect<void, KsefError>) =>
        Effect.gen(function* () {
          const { hasState, send } = setUp(process, upload)
          yield* send
          assert.strictEqual(hasState("uploaded"), upload === Effect.void)
          return process.uploads.waitUntil("5265877635")
        })
      assert.strictEqual(yield* waitAfter(Effect.fail(refused)), 60_000)
      assert.strictEqual(yield* waitAfter(Effect.fail(refused)), 120_000)
      assert.strictEqual(yield* waitAfter(Effect.void), 0)
      assert.strictEqual(yield* waitAfter(Effect.fail(refused)), 60_000)
    })
  )

  it.effect("uploads the archive again if KSeF does not have it, and closes the batch", () =>
    Effect.gen(function* () {
      const process = makeProcess(32)
      let uploads = 0
      const upload = Effect.sync(() => void (uploads += 1))
      const close = Effect.suspend(() => (uploads < 2 ? Effect.fail(closeRefusedBy(21205)) : closed))
      const { hasState, send } = setUp(process, upload, close)
      yield* send
      assert.strictEqual(uploads, 2)
      assert.isTrue(hasState("closed"))
      assert.strictEqual(process.uploads.waitUntil("5265877635"), 0)
    })
  )

  // The last one is not documented.
  for (const code of [21205, 21208, 21157, 21405, 29999]) {
    it.effect(`sends the documents of a batch again that is not closed because of ${code}, a minute later`, () =>
      Effect.gen(function* () {
        const process = makeProcess(32)
        const { hasState, send, transitions, written } = setUp(process, Effect.void, Effect.fail(closeRefusedBy(code)))
        yield* send
        assert.isTrue(hasState("abandoned"))
        assert.isTrue(written.some(({ submissions = [] }) => submissions.some(({ state }) => state === "absent")))
        assert.strictEqual(process.uploads.waitUntil("5265877635"), 60_000)
        assert.deepStrictEqual(
          transitions().map(({ emits, nextAttemptAt, status }) => ({ emits, nextAttemptAt, status })),
          [{ emits: null, nextAttemptAt: new Date(0), status: "retrying" }],
          "KSeF does not have it, and it may go alone at once"
        )
      })
    )

    it.effect(`gives up the batch of an earlier holder that is not closed because of ${code}`, () =>
      Effect.gen(function* () {
        const process = makeProcess(32)
        const { hasState, poll, transitions } = setUp(process, Effect.void, Effect.fail(closeRefusedBy(code)))
        yield* poll
        assert.isTrue(hasState("abandoned"))
        assert.deepStrictEqual(
          transitions().map(({ status }) => status),
          ["retrying"]
        )
        assert.strictEqual(process.uploads.waitUntil("5265877635"), 60_000)
      })
    )
  }

  it.effect("logs and counts a refused upload, and has an attachment wait for the next batch with the reason", () =>
    Effect.gen(function* () {
      const process = makeProcess(32)
      const refusals = Effect.map(Metric.value(KsefMetrics.calls("uploadPart", "blocked")), ({ count }) => count)
      const before = yield* refusals
      const logged: Array<string> = []
      const logger = Logger.layer([
        Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))
      ])
      const { hasState, send, transitions } = setUp(process, Effect.fail(firewall), closed, {
        has_attachment: true
      })
      yield* Effect.provide(send, logger)
      assert.isTrue(hasState("abandoned"))
      assert.strictEqual((yield* refusals) - before, 1)
      assert.deepStrictEqual(logged, [
        "Warn The archive of a batch could not be uploaded; its documents are sent again"
      ])
      const [transition, ...others] = transitions()
      assert.lengthOf(others, 0)
      assert.deepInclude(transition, {
        status: "retrying",
        nextAttemptAt: new Date(60_000),
        dueAt: new Date(60_000),
        failure: {
          code: "gateway_unavailable",
          message: "The archive of a batch could not be uploaded. KSeF forbids the call."
        }
      })
    })
  )

  it.effect("fails an invoice whose batches could not be uploaded until the time to give up", () =>
    Effect.gen(function* () {
      const statusesAt = (firstFailedAt: number, earlier: ReadonlyArray<Partial<SubmissionRow>> = []) =>
        Effect.gen(function* () {
          const columns = { has_attachment: true, first_failed_at: new Date(firstFailedAt) }
          const { send, transitions } = setUp(undefined, Effect.fail(firewall), closed, columns, { earlier })
          yield* send
          return transitions().map(({ emits, status }) => [status, emits])
        })
      assert.deepStrictEqual(yield* statusesAt(1 - giveUpMs), [["retrying", null]])
      assert.deepStrictEqual(yield* statusesAt(-giveUpMs), [["failed", "invoice.failed"]])
      const mayHaveIt = { code: StatusRules.unreadableSession, submission_state: "absent" } as const
      assert.deepStrictEqual(yield* statusesAt(-giveUpMs, [mayHaveIt]), [["retrying", null]])
    })
  )

  it.effect("fails a submitted attachment whose batches are not closed until the time to give up", () =>
    Effect.gen(function* () {
      const closedAfter = (handedOverAt: number, code: number | null) =>
        Effect.gen(function* () {
          const columns = { has_attachment: true, status: "submitted", submission_reference: "r" } as const
          const earlier = [
            { code: null, handed_over_at: new Date(handedOverAt) },
            { code, handed_over_at: new Date(-10 * giveUpMs) }
          ]
          const close = Effect.fail(closeRefusedBy(29999))
          const { send, transitions, written } = setUp(undefined, Effect.void, close, columns, { earlier })
          yield* send
          const refused = written
            .flatMap(({ submissions = [] }) => submissions)
            .filter((one) => one.state === "refused")
          return { dueAt: refused.map(({ dueAt }) => dueAt), failures: transitions().map(({ failure }) => failure) }
        })
      const waits = { dueAt: [new Date(60_000)], failures: [] }
      assert.deepStrictEqual(yield* closedAfter(1 - giveUpMs, 500), waits)
      assert.deepStrictEqual(yield* closedAfter(-giveUpMs, StatusRules.unreadableSession), waits, "KSeF may have it")
      const { dueAt, failures } = yield* closedAfter(-giveUpMs, 500)
      assert.deepStrictEqual(dueAt, [null])
      assert.deepStrictEqual(failures, [
        {
          code: "national_system_error",
          message:
            "KSeF did not process the invoice, and it could not be sent again. KSeF refused to close a batch. refused"
        }
      ])
    })
  )

  it.effect("gives the members of a batch the reason that another of its invoices may not be sent any more", () =>
    Effect.gen(function* () {
      const { hasState, send, transitions } = setUp(undefined, Effect.void, closed, {}, { begun: [] })
      yield* send
      assert.isTrue(hasState("abandoned"))
      assert.deepInclude(transitions()[0], {
        status: "retrying",
        nextAttemptAt: new Date(0),
        failure: {
          code: "gateway_unavailable",
          message: "Another invoice of the batch may not be sent any more, so that the batch was given up."
        }
      })
    })
  )

  it.effect("sends the documents of a batch again after a minute, five times, if it ended with 500", () =>
    Effect.gen(function* () {
      const after = (errors: number) =>
        Effect.gen(function* () {
          const earlier = Array.from({ length: errors }, () => ({ submission_state: "refused", code: 500 }) as const)
          const { poll, transitions, written } = setUp(
            undefined,
            Effect.void,
            closed,
            { status: "submitted" },
            { status: 500, earlier }
          )
          yield* poll
          const changes = written.flatMap(({ submissions = [] }) => submissions).filter(({ code }) => code === 500)
          return {
            dueAt: changes.map(({ dueAt }) => dueAt),
            failures: transitions().map(({ failure }) => failure?.code)
          }
        })
      assert.deepStrictEqual(yield* after(0), { dueAt: [new Date(60_000)], failures: [] })
      assert.deepStrictEqual(yield* after(4), { dueAt: [new Date(8 * 3_600_000)], failures: [] })
      assert.deepStrictEqual(yield* after(5), { dueAt: [null], failures: ["national_system_error"] })
    })
  )

  it.effect("marks no document of a batch as submitted if KSeF canceled it before it was closed (440)", () =>
    Effect.gen(function* () {
      const { hasState, poll, transitions } = setUp(undefined, Effect.void, closed, {}, { status: 440 })
      yield* poll
      assert.isTrue(hasState("abandoned"))
      assert.deepStrictEqual(
        transitions().map(({ emits, failure, status }) => ({ emits, message: failure?.message, status })),
        [
          {
            emits: null,
            message: "KSeF canceled the batch of the invoice before it was processed.",
            status: "retrying"
          }
        ]
      )
    })
  )

  it.effect("counts its upload towards the concurrency limit of the process", () =>
    Effect.gen(function* () {
      const process = makeProcess(1)
      const { hasState, send } = setUp(process)
      yield* process.permits.take(1)
      yield* Effect.forkChild(send)
      yield* happens(() => hasState("open"))
      yield* realSleep(50)
      assert.isFalse(hasState("uploaded"))
      yield* process.permits.release(1)
      yield* happens(() => hasState("uploaded"))
    })
  )
})
