/** Converts pages of records to lists of the API, and cursors to positions. */
import { Lists, Problems } from "@govoice/api"
import { Effect } from "effect"
import type { Cursors } from "../../crypto/Cursors.ts"
import type { Page, PageRequest, TimeRange } from "../../database/Page.ts"

interface Query {
  readonly limit?: number
  readonly cursor?: string
  readonly order?: Lists.Order
}

/** Serves one list: `name` says which list it is, whose, and with which filters, and goes into its cursors. */
export const serve = <A extends { readonly id: string }, E>(
  cursors: Cursors["Service"],
  name: ReadonlyArray<string | undefined>,
  { cursor, limit = Lists.limits.default, order }: Query,
  fetch: (page: PageRequest) => Effect.Effect<Page<A>, E>
) =>
  Effect.gen(function* () {
    const isAscending = order === "asc"
    const list = [...(isAscending ? ["asc"] : []), ...name.map((part) => part ?? "")]
    const after = cursor === undefined ? undefined : cursors.read(list, cursor)
    if (cursor !== undefined && after === undefined) {
      return yield* Problems.fail("invalid_parameter", {
        param: "cursor",
        message: "cursor: must be the next_cursor of the page before, for the same list with the same filters."
      })
    }

    const { continueAfter, hasMore, records } = yield* fetch({ limit, after, isAscending })
    // A reader continues an ascending list later, also one that is empty so far. Every identifier sorts after "0".
    const next = continueAfter ?? records.at(-1)?.id ?? (isAscending ? (after ?? "0") : undefined)
    return {
      object: "list" as const,
      data: records,
      has_more: hasMore,
      next_cursor: (hasMore || isAscending) && next !== undefined ? cursors.make(list, next) : null
    }
  })

/** The query parameters that limit a list to records of a time. */
interface TimeQuery {
  readonly created_after?: string
  readonly created_before?: string
}

/** Returns the time that a list is limited to. */
export const timeOf = ({ created_after, created_before }: TimeQuery): TimeRange => ({
  from: created_after === undefined ? undefined : Date.parse(created_after),
  before: created_before === undefined ? undefined : Date.parse(created_before)
})
