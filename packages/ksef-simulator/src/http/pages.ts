/**
 * Lists in pages: with continuation tokens in a header, or with numbers in the query.
 */
import { badRequest } from "./Reply.ts"

/** A page of a list, and what asks for the next one. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly continuationToken: string | undefined
}

// KSeF's tokens are opaque. This one is a position, so that a page holds still while records are added at the end.
const encode = (offset: number): string => Buffer.from(JSON.stringify([{ offset }])).toString("base64")

const decode = (token: string): number => {
  try {
    const [{ offset }] = JSON.parse(Buffer.from(token, "base64").toString("utf8")) as [{ readonly offset: unknown }]
    if (Number.isSafeInteger(offset) && (offset as number) > 0 && encode(offset as number) === token) {
      return offset as number
    }
  } catch {
    // Refused below, as every other malformed token.
  }
  throw badRequest(21418)
}

/**
 * Returns the page of a list that the headers of a request ask for.
 *
 * @throws {Refusal} 21418 when the continuation token is malformed.
 */
export const page = <A>(
  all: ReadonlyArray<A>,
  size: number,
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
): Page<A> => {
  const token = headers["x-continuation-token"]
  const offset = token === undefined || token === "" ? 0 : decode(String(token))
  const end = offset + size
  return { items: all.slice(offset, end), continuationToken: end < all.length ? encode(end) : undefined }
}

/** Returns the page of a list that `pageOffset` and `pageSize` ask for: a number of the page, from 0, and its size. */
export const listPage = <A>(
  all: ReadonlyArray<A>,
  query: Readonly<Record<string, unknown>>
): { readonly items: ReadonlyArray<A>; readonly hasMore: boolean } => {
  const size = Number(query["pageSize"])
  const start = Number(query["pageOffset"]) * size
  return { items: all.slice(start, start + size), hasMore: start + size < all.length }
}
