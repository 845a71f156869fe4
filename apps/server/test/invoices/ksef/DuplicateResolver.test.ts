import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Redacted } from "effect"
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

describe("a duplicate", () => {
  it.effect("whose original has an empty number is looked up as one without a number", () =>
    Effect.gen(function* () {
      // The cast: a lane has many more members, which nothing here reads.
      const context = {
        store: {
          submissionsOf: () => Effect.succeed([row("2"), row("1")]),
          invoiceOfNumber: () => Effect.succeed(undefined),
          hasOpenCopy: () => Effect.succeed(false),
          write: () => Effect.void
        },
        system: { client: { invoice: () => Effect.die("No invoice has an empty number.") } },
        call: (_: unknown, effect: Effect.Effect<unknown>) => effect,
        logins: { accessToken: () => Effect.succeed(Redacted.make("token")) },
        organizations: new Map([[organizationId, { id: organizationId }]])
      } as unknown as LaneContext
      const extensions = { originalKsefNumber: "", originalSessionReferenceNumber: "" }
      const answer: StatusRules.InvoiceStatus = {
        referenceNumber: "reference",
        invoiceHash: "hash",
        invoicingDate: 0,
        status: { code: 440, extensions }
      }
      const changes = yield* DuplicateResolver.resolve(context, row("2"), answer)
      assert.deepStrictEqual(changes, StatusRules.postponed(row("2"), 0, 440))
    })
  )
})
