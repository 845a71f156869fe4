/**
 * Operations are all alike, so that each is made from a line: its path, and what its answer is. Without a kind the
 * answer has no content.
 *
 * An operation takes the connection, an identifier for each `*` in the path, a body if it has one, and the bounds of the
 * call.
 *
 * @module
 */
import type { CallOptions } from "../connection.ts"
import { jsonParts } from "./jsonParts.ts"
import { fill } from "./paths.ts"
import type { Send } from "./transport.ts"

type Method = Parameters<Send>[0]
type Answer = Parameters<Send>[2]

interface Way {
  readonly "~send": Send
}

/** Makes an operation that sends nothing but its path. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- no argument tells the signature: it is written where the path is
export const withoutBody = <F>(path: string, answer: Answer = "", method: Method = "GET"): F =>
  ((way: Way, ...rest: Array<unknown>) =>
    // The identifiers are taken off first.
    way["~send"](method, fill(path, rest), answer, rest[0] as CallOptions)) as F

/** Makes an operation that sends a body; a body that is left out is an empty one. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- no argument tells the signature: it is written where the path is
export const withBody = <F>(method: Method, path: string, answer: Answer = ""): F =>
  ((way: Way, ...rest: Array<unknown>) =>
    way["~send"](method, fill(path, rest), answer, rest[1] as CallOptions, jsonParts({ ...(rest[0] as {}) }))) as F
