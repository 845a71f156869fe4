/**
 * Lists: page after page, as they are read.
 *
 * @module
 */
import type { CallOptions } from "../connection.ts"
import type { ControlPlaneConnection } from "../session.ts"
import { check, json } from "./decode.ts"
import { page as pageKind } from "./kinds.ts"
import type { List } from "./lists.ts"
import { fill, wire } from "./paths.ts"

declare const URLSearchParams: new (members: Record<string, string>) => { toString(): string }

/** A part of a list. */
export interface Page<A> {
  /** The records, newest first. */
  readonly data: ReadonlyArray<A>
  /** Whether older records exist. */
  readonly hasMore: boolean
  /** Continues the list; null on the last page. */
  readonly nextCursor: string | null
}

/** Asks for one page of a list. The arguments are an identifier for each `*`, then filters with the bounds of a call. */
export const getPage = async <A>(
  session: ControlPlaneConnection,
  [path, kind]: List,
  rest: ReadonlyArray<unknown>,
  cursor?: string
): Promise<Page<A>> => {
  const left = [...rest]
  const filled = fill(path, left)
  const options = left[0] as CallOptions | undefined
  const { deadlineMs: _deadlineMs, signal: _signal, timeoutMs: _timeoutMs, ...filter } = options ?? {}
  // There and back, because JSON has no undefined.
  const query = JSON.parse(JSON.stringify(wire({ cursor, ...filter }))) as Record<string, string>
  const page = await session["~send"](
    `${filled}?${new URLSearchParams(query).toString()}`,
    json<Page<A>>(pageKind),
    options
  )
  // What is no list becomes a list of something that is no record.
  for (const record of [page.data].flat()) check(kind, record)
  return page
}

/** Makes a list that asks for a page when the one before it has been read. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- its signature is written beside its name
export const list = <F>(which: List): F =>
  async function* (session: ControlPlaneConnection, ...rest: Array<unknown>) {
    let cursor: string | undefined
    do {
      const { data, nextCursor } = await getPage(session, which, rest, cursor)
      yield* data
      cursor = nextCursor!
    } while (cursor)
  } as F
