/**
 * Recovers a lane from its earlier holder: its session keys are gone, and the outcome of its last calls is not known.
 */
import { Clock, Effect } from "effect"
import * as BatchSender from "./BatchSender.ts"
import type { LaneContext } from "./LaneContext.ts"
import { closeOnline } from "./InteractiveSessions.ts"

/** Ends the sessions of earlier holders, and has sends looked up whose outcome is not known. */
export const recoverLane = Effect.fnUntraced(function* (
  context: LaneContext,
  batches: ReturnType<typeof BatchSender.make>
) {
  const { lane, store } = context
  for (const { id, kind, organization_id, reference, state } of yield* store.unfinishedSessions(lane.nip)) {
    const now = yield* Clock.currentTimeMillis
    if (reference === null) {
      // The opening may have been answered. An empty session, and a batch that is not closed, end by themselves.
      if (kind === "batch") yield* batches.abandon(id, BatchSender.notClosed)
      else yield* store.write(lane, { sessions: [{ id, state: "abandoned", dueAt: null }] })
    } else if (kind === "online") {
      yield* closeOnline(context, { id, reference, organizationId: organization_id })
    } else {
      if (state === "closed") yield* batches.markSent(id, reference)
      // The verdict step reads the session, and goes on from where it is.
      yield* store.write(lane, { sessions: [{ id, dueAt: new Date(now) }] })
    }
  }
  yield* store.lookAtSends(lane)
})
