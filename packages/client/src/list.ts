/**
 * Lists: page after page, as they are read.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { check, type Kind } from "./internal/decode.ts"
import * as Kinds from "./internal/kinds.ts"
import { fill } from "./internal/paths.ts"
import { rename } from "./internal/rename.ts"
import type { ControlPlaneConnection } from "./session.ts"

declare const URLSearchParams: new (members: Record<string, string>) => { toString(): string }

/** How a list is read. The bounds are those of each page. */
export interface ListOptions extends CallOptions {
  /**
   * How many records a page has, from 1 to 100. The list goes on past it, page by page.
   *
   * @default 50
   */
  readonly limit?: number | undefined
}

/** A part of a list. */
export interface Page<A> {
  /** The records, newest first. */
  readonly data: ReadonlyArray<A>
  /** Whether older records exist. */
  readonly hasMore: boolean
  /** Continues the list; null on the last page. */
  readonly nextCursor: string | null
}

/**
 * Records, newest first. A page is asked for when the one before it has been read, so leaving a loop early costs
 * nothing. Each loop begins anew.
 */
export interface List<A> extends AsyncIterable<A> {
  /** One page: the first, or the one that a `nextCursor` continues with. */
  page(cursor?: string): Promise<Page<A>>
}

/**
 * Makes a list of a path. It takes the session, an identifier for each `*` in the path, and the filters with the bounds
 * of a call.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- its signature is written beside its path
export const list = <F>(path: string, kind: Kind): F =>
  ((session: ControlPlaneConnection, ...rest: Array<unknown>): List<unknown> => {
    const filled = fill(path, rest)
    const options = rest[0] as CallOptions | undefined
    const { deadlineMs: _deadlineMs, signal: _signal, timeoutMs: _timeoutMs, ...filter } = options ?? {}
    const page = async (cursor?: string) => {
      // There and back, because JSON has no undefined.
      const query = JSON.parse(JSON.stringify(rename({ ...filter, cursor }))) as Record<string, string>
      const page = await session["~send"]<Page<unknown>>(
        "GET",
        `${filled}?${new URLSearchParams(query).toString()}`,
        Kinds.page,
        options
      )
      // What is no list becomes a list of something that is no record.
      for (const record of [page.data].flat()) check(kind, record)
      return page
    }
    return {
      page,
      async *[Symbol.asyncIterator]() {
        let cursor: string | undefined
        do {
          const { data, nextCursor } = await page(cursor)
          yield* data
          cursor = nextCursor!
        } while (cursor)
      }
    }
  }) as F
