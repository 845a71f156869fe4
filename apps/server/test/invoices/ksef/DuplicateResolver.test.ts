import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Redacted } from "effect"
import { KsefError } from "@govoice/ksef/client"
import { KsefNumber } from "@govoice/ksef/format"
import { type Operation, Problem } from "@govoice/ksef/protocol"
import { TestClock } from "effect/testing"
import { CallFailed, classify } from "../../../src/invoices/ksef/CallFailure.ts"
import * as DuplicateResolver from "../../../src/invoices/ksef/DuplicateResolver.ts"
import type { LaneContext } from "../../../src/invoices/ksef/LaneContext.ts"
import type { SubmissionRow } from "../../../src/invoices/ksef/laneRows.ts"
import * as StatusRules from "../../../src/invoices/ksef/StatusRules.ts"

const organizationId = "org_1" as Ids.OrganizationId

// The columns that are read.
const row = (id: string) =>
  ({
    id: "inv_1" as Ids.InvoiceId,
    submission_id: id,
    session_organization_id: organizationId,
    session_reference: null,
    handed_over_at: new Date(0),
    check_count: 0,
    code: null
  }) as SubmissionRow

const contextWith = (earlier: ReadonlyArray<SubmissionRow>, invoice: Effect.Effect<never, KsefError>) =>
  ({
    store: {
      submissionsOf: () => Effect.succeed(earlier),
      invoiceOfNumber: () => Effect.succeed(undefined),
      hasOpenCopy: () => Effect.succeed(false),
      write: () => Effect.void
    },
    system: { client: { invoice: () => invoice } },
    call: (call: Operation.Operation, effect: Effect.Effect<unknown, KsefError>) =>
      Effect.mapError(effect, (error) => new CallFailed({ call, failure: classify(error), until: 0 })),
    logins: { accessToken: () => Effect.succeed(Redacted.make("token")) },
    organizations: new Map([[organizationId, { id: organizationId }]])
    // The cast: a lane has many more members, which nothing here reads.
  }) as unknown as LaneContext

const duplicateOf = (originalKsefNumber: string): StatusRules.InvoiceStatus => ({
  referenceNumber: "reference",
  invoiceHash: "hash",
  invoicingDate: 0,
  status: { code: 440, extensions: { originalKsefNumber, originalSessionReferenceNumber: "" } }
})

describe("a duplicate", () => {
  it.effect("whose original has an empty number is looked up as one without a number", () =>
    Effect.gen(function* () {
      const context = contextWith([row("2"), row("1")], Effect.die("No invoice has an empty number."))
      const changes = yield* DuplicateResolver.resolve(context, row("2"), duplicateOf(""))
      assert.deepStrictEqual(changes, StatusRules.postponed(row("2"), 0, 440))
    })
  )

  // After a restored backup nothing is known of the first submission: what KSeF calls the original may be this very invoice.
  it.effect("whose original may be the invoice itself, and cannot be read, is compared for a day before it fails", () =>
    Effect.gen(function* () {
      const invoice = { ...row("1"), created_at: new Date(0), status: "submitted" } as const
      const refused = new KsefError({
        call: "invoice",
        outcome: "answered",
        reason: "rejected",
        problem: Problem.read(JSON.stringify({ title: "Bad Request", status: 400, errors: [{ code: 21164 }] })),
        message: "no"
      })
      const context = contextWith([invoice], Effect.fail(refused))
      const number = KsefNumber.make({ nip: "5265877635", day: "19700101", serial: "0100C0E2F0A0" })
      const resolved = DuplicateResolver.resolve(context, invoice, duplicateOf(number))
      assert.deepStrictEqual(yield* resolved, StatusRules.postponed(invoice, 0, 440))
      yield* TestClock.adjust("25 hours")
      assert.strictEqual((yield* resolved).transitions?.[0]?.transition.failure?.code, "duplicate_unresolved")
    })
  )
})
