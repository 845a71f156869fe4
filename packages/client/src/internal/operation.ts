/**
 * Constructors of operations from a path and the schema of the response. An empty schema means no content.
 *
 * The arguments of an operation are the connection, an identifier for each `*` in the path, the body if it has one, and the
 * options of the call.
 *
 * @module
 */
import type { CallOptions } from "../options.ts"
import { buildPath } from "./buildPath.ts"
import { callOptions, checkOptions } from "./checkOptions.ts"
import { jsonParts } from "./jsonParts.ts"
import type { Send } from "./transport.ts"

type Method = Parameters<Send>[0]
type Answer = Parameters<Send>[2]

interface AnyConnection {
  readonly "~send": Send
}

/** Returns an operation without a body. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller states the signature of the operation
export const withoutBody = <F>(path: string, answer: Answer = "", method: Method = "GET"): F =>
  (async (connection: AnyConnection, ...rest: Array<unknown>) =>
    // `buildPath` removes the identifiers from `rest`.
    connection["~send"](method, buildPath(path, rest), answer, checkOptions(rest[0] as CallOptions, callOptions))) as F

/** Returns an operation with a body. A missing body is sent as an empty object. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller states the signature of the operation
export const withBody = <F>(method: Method, path: string, answer: Answer = ""): F =>
  (async (connection: AnyConnection, ...rest: Array<unknown>) =>
    connection["~send"](
      method,
      buildPath(path, rest),
      answer,
      checkOptions(rest[1] as CallOptions, callOptions),
      jsonParts({ ...(rest[0] as {}) })
    )) as F
