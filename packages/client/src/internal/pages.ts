/**
 * Lists: page after page, as they are read.
 *
 * @module
 */
import type { CallOptions } from "../connection.ts"
import type { Session } from "../session.ts"
import { json } from "./decode.ts"
import { type Kind } from "./decode.ts"
import { page } from "./kinds.ts"
import { query } from "./paths.ts"

interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/** The records of a list, newest first. A page is asked for when the one before it has been read. */
export async function* pages<A>(
  session: Session,
  path: string,
  kind: Kind,
  { deadlineMs, signal, timeoutMs, ...filter }: CallOptions = {}
): AsyncGenerator<A, void, undefined> {
  let cursor: string | null | undefined
  do {
    const { data, nextCursor }: Page<A> = await session["~send"](
      { method: "GET", path: `/control-plane${path}${query({ ...filter, cursor })}`, read: json<Page<A>>(page(kind)) },
      { deadlineMs, signal, timeoutMs }
    )
    yield* data
    cursor = nextCursor
  } while (cursor !== null)
}
