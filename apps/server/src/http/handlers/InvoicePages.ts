/**
 * Makes pages of invoices in turn. Their metadata can be four megabytes, which take several times as much until the answer is
 * complete: two at once in a process, one of them of an organization.
 */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { SettledTimeNeeded } from "../../invoices/Invoices.ts"
import * as Slots from "../../limits/Slots.ts"
import * as Throttling from "../middleware/Throttling.ts"

const slots = Slots.make({
  slots: 2,
  slotsPerGroup: 1,
  maxWaiting: 1000,
  maxWaitingPerGroup: 250,
  maxWaitMs: Slots.turnMs
})

/**
 * Answers with a page of an organization, when it is its turn. A page that needs the settled time has another turn once that is
 * known, because to wait for it takes a quarter of a second and nothing else.
 */
export const answer = <A, E, R>(
  owner: Slots.Owner,
  settledTime: Effect.Effect<number>,
  page: (settledTime?: number) => Effect.Effect<A, E | SettledTimeNeeded, R>
) =>
  inTurn(owner, page()).pipe(
    Effect.catchTag("SettledTimeNeeded", () => Effect.flatMap(settledTime, (time) => inTurn(owner, page(time)))),
    // A page that has the time needs nothing else.
    Effect.catchTag("SettledTimeNeeded", Effect.die)
  )

const inTurn = <A, E, R>(owner: Slots.Owner, page: Effect.Effect<A, E, R>) =>
  // The records have the shape of the answer. Not encoded by the schema, which would do it after the turn. As bytes, because Node
  // keeps a copy of a text with the head of the answer, until the client has read it.
  slots
    .run(owner)(
      Effect.map(page, (list) =>
        HttpServerResponse.uint8Array(Buffer.from(JSON.stringify(list)), { contentType: "application/json" })
      )
    )
    .pipe(Effect.catchTag("NoSlot", () => Throttling.failWithoutTurn))
