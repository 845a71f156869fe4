/**
 * Lists: page after page, as they are read.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { check, type Kind, parse } from "./internal/decode.ts"
import * as Kinds from "./internal/kinds.ts"
import { fill } from "./internal/paths.ts"
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
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- no argument tells the signature: it is written where the path is
export const list = <F>(path: string, kind: Kind): F =>
  ((session: ControlPlaneConnection, ...rest: Array<unknown>): List<unknown> => {
    const filled = fill(path, rest)
    const options = rest[0] as CallOptions | undefined
    const { deadlineMs: _deadlineMs, signal: _signal, timeoutMs: _timeoutMs, ...filter } = options ?? {}
    const page = (cursor?: string) =>
      session["~send"](
        "GET",
        // There and back, because JSON has no undefined. On the way names change their case, as those of answers do.
        [filled, new URLSearchParams(parse(JSON.stringify({ ...filter, cursor })) as Record<string, string>)].join("?"),
        async (response) => {
          const page = check(Kinds.page, parse(await response.text())) as {
            data: ReadonlyArray<unknown>
          } & Page<unknown>
          // What is no list becomes a list of something that is no record.
          for (const record of (page.data = [page.data].flat())) check(kind, record)
          return page
        },
        options
      )
    return {
      page,
      async *[Symbol.asyncIterator]() {
        let cursor: string | undefined
        do {
          const found = await page(cursor)
          yield* found.data
          cursor = found.nextCursor!
        } while (cursor)
      }
    }
  }) as F
