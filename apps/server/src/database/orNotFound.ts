/** Finds one record by an identifier that a client sent. */
import { Ids } from "@govoice/core"
import { Effect } from "effect"

/**
 * Makes the function that runs a query for an identifier and returns its first row. It fails where there is none, or where the text is
 * no identifier of this kind, which reaches no statement.
 */
export const makeOrNotFound = <P extends Ids.Prefix, E>(prefix: P, notFound: () => E) =>
  Effect.fnUntraced(function* <A>(id: string, query: (id: Ids.Id<P>) => Effect.Effect<ReadonlyArray<A>, unknown>) {
    const [row] = Ids.is(prefix, id) ? yield* Effect.orDie(query(id)) : []
    return row ?? (yield* Effect.fail(notFound()))
  })
