import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { CallFailed } from "../../../src/invoices/ksef/CallFailure.ts"
import { type LaneProcess, makeProcess } from "../../../src/invoices/ksef/LaneProcess.ts"
import type { LaneContext } from "../../../src/invoices/ksef/LaneContext.ts"
import type { Changes, ReasonChange, SubmissionChange, SubmissionRow } from "../../../src/invoices/ksef/laneRows.ts"
import * as StatusPoller from "../../../src/invoices/ksef/StatusPoller.ts"
import * as StatusRules from "../../../src/invoices/ksef/StatusRules.ts"

const minute = 60_000
const organizationId = "org_1" as Ids.OrganizationId
const refused = new CallFailed({
  call: "invoiceStatus",
  until: 0,
  failure: { _tag: "not-readable", message: "no access" }
})

/** Runs the step for documents of a session that its login has not been able to read since 0, and returns the changes. */
const poll = (
  rows: ReadonlyArray<SubmissionRow>,
  options: {
    readonly process?: LaneProcess
    readonly polled?: Effect.Effect<StatusPoller.Polled>
    readonly reasons?: Array<ReasonChange>
  } = {}
) =>
  Effect.gen(function* () {
    const { polled = Effect.succeed({ hasAsked: false, nextAt: Infinity }), process = makeProcess(8) } = options
    const shown = options.reasons ?? []
    const written: Array<SubmissionChange> = []
    // The cast: the step needs these members of the lane alone.
    const context = {
      lane: { context: "5265877635" },
      process,
      store: {
        dueVerdicts: () => Effect.succeed({ rows, nextAt: Infinity }),
        markUnreadable: () => Effect.die("It is marked already."),
        submissionsOf: (id: string) => Effect.succeed(rows.filter((row) => row.id === id)),
        referencesOf: () => Effect.succeed([]),
        write: (_: unknown, { reasons = [], submissions = [] }: Changes) =>
          Effect.sync(() => {
            written.push(...submissions)
            shown.push(...reasons)
          })
      },
      system: {
        client: {
          invoiceStatus: () => Effect.fail(refused),
          sessionInvoices: () => Effect.succeed({ invoices: [] })
        }
      },
      call: (_: unknown, effect: Effect.Effect<unknown>) => effect,
      logins: { accessToken: () => Effect.succeed(Redacted.make("token")) },
      organizations: new Map([[organizationId, { id: organizationId }]]),
      wake: () => {}
    } as unknown as LaneContext
    yield* StatusPoller.make(context, polled)
    return written
  })

// Has the columns that the step reads.
const submission = (id: string, handedOverAt: number) =>
  ({
    id: `inv_${id}`,
    submission_id: id,
    status: "submitted",
    submission_state: "sent",
    submission_reference: `reference ${id}`,
    session_id: "1",
    session_organization_id: organizationId,
    session_reference: "session",
    session_unreadable_since: new Date(0),
    handed_over_at: new Date(handedOverAt),
    check_count: 0,
    code: null
  }) as SubmissionRow

describe("documents of a session that cannot be read", () => {
  it.effect("are given up an hour after they were sent, not before", () =>
    Effect.gen(function* () {
      const rows = [submission("1", -minute), submission("2", 61 * minute)]
      yield* TestClock.adjust("61 minutes")
      const postponedUntil = new Date(61 * minute + StatusRules.postponeMs)
      assert.deepStrictEqual(yield* poll(rows), [
        { id: "1", checkCount: 0, state: "refused", code: 403, dueAt: new Date(61 * minute) },
        { id: "2", checkCount: 1, dueAt: postponedUntil }
      ])
      yield* TestClock.adjust("60 minutes")
      const [, second] = yield* poll(rows)
      assert.deepInclude(second, { id: "2", state: "refused", code: 403 })
    })
  )
})

describe("documents that KSeF has received and does not list", () => {
  it.effect("show it after half a minute, with one line in the log", () =>
    Effect.gen(function* () {
      const warnings: Array<unknown> = []
      const logger = Logger.layer([Logger.make(({ message }) => void warnings.push(message))])
      const rows = ["1", "2"].map((id) => ({
        ...submission(id, 0),
        sha256: new Uint8Array(32),
        failure: null,
        submission_reference: null,
        session_unreadable_since: null
      }))
      for (const expected of [0, 2]) {
        const reasons: Array<ReasonChange> = []
        yield* Effect.provide(poll(rows, { reasons }), logger)
        assert.lengthOf(reasons, expected)
        for (const { failure } of reasons) assert.strictEqual(failure?.code, "gateway_unavailable")
        assert.lengthOf(warnings, expected === 0 ? 0 : 1)
        yield* TestClock.adjust("30 seconds")
      }
    })
  )
})

describe("a lane whose verdicts had trouble", () => {
  const trouble = {
    reason: { code: "gateway_unavailable", message: "KSeF is unavailable." },
    until: 0,
    isRoutine: false
  } as const

  it.effect.each([
    { name: "has none once a batch alone was polled, however long that took", hasAsked: true, remains: 0 },
    { name: "has it while a batch is not due yet", hasAsked: false, remains: 1 }
  ])("$name", ({ hasAsked, remains }) =>
    Effect.gen(function* () {
      const process = makeProcess(8)
      process.troubles.report({ fencingToken: 1, context: "5265877635" }, "verdicts", trouble, 0)
      const polled = Effect.as(TestClock.adjust("2 seconds"), { hasAsked, nextAt: 10 * minute })
      yield* poll([], { process, polled })
      assert.lengthOf(process.troubles.leases(), remains)
    })
  )
})
