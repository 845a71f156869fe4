import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Redacted } from "effect"
import * as BatchSender from "../../../../src/invoices/live/ksef/BatchSender.ts"
import type { LaneContext } from "../../../../src/invoices/live/ksef/LaneContext.ts"
import type { Changes, WaitingInvoice } from "../../../../src/invoices/live/ksef/laneRows.ts"

const organizationId = "org_1" as Ids.OrganizationId
const id = "inv_1" as Ids.InvoiceId

/** A lane of one organization, and what it writes while it sends a batch of one invoice. */
const setUp = () => {
  const written: Array<Changes> = []
  const member = {
    id,
    status: "submitting",
    attempt_count: 1,
    updated_at: new Date(0),
    submission_id: "1",
    submission_state: "sending"
  }
  // A batch needs these members of the lane alone.
  const context = {
    lane: { nip: "5265877635" },
    store: {
      beginSession: () => Effect.succeed("1"),
      documents: () => Effect.succeed([{ id, xml: "<Faktura/>" }]),
      beginBatch: () => Effect.succeed([id]),
      members: () => Effect.succeed([member]),
      write: (_: unknown, changes: Changes) => Effect.sync(() => void written.push(changes))
    },
    system: {
      client: {
        openBatch: () => Effect.succeed({ referenceNumber: "session", partUploadRequests: [{}] }),
        uploadPart: () => Effect.void,
        closeBatch: () => Effect.void
      }
    },
    keys: { get: () => Effect.succeed({}) },
    call: (_: unknown, effect: Effect.Effect<unknown>) => effect,
    logins: { accessToken: () => Effect.succeed(Redacted.make("token")) },
    organizations: new Map([[organizationId, { id: organizationId }]]),
    wake: () => {},
    wakeDeliveries: Effect.void
  } as unknown as LaneContext
  return { context, written }
}

describe("BatchSender", () => {
  it.effect("marks the members of a batch before the verdict step can read it", () =>
    Effect.gen(function* () {
      const { context, written } = setUp()
      // What decides the size of a batch; the other columns are not read.
      const waiting = [{ id, bytes: 10, batch_limit: null }] as unknown as ReadonlyArray<WaitingInvoice>
      yield* BatchSender.make(context).send(organizationId, "FA (3)", waiting)
      const sentAt = written.findIndex(({ submissions = [] }) => submissions.some(({ state }) => state === "sent"))
      const dueAt = written.findIndex(({ sessions = [] }) => sessions.some((session) => session.dueAt !== null))
      assert.isAtLeast(sentAt, 0)
      assert.isAbove(dueAt, sentAt)
      assert.deepInclude(written[dueAt]?.sessions?.[0], { id: "1", state: "closed" })
    })
  )
})
