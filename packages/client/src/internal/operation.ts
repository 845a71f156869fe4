/**
 * The operations of the control plane are all alike, so that each is made from a line.
 *
 * @module
 */
import type { CallOptions } from "../connection.ts"
import type { ControlPlaneConnection } from "../session.ts"
import { json, type Kind } from "./decode.ts"
import { jsonParts } from "./jsonParts.ts"
import { fill, wire } from "./paths.ts"
import type { RequestParts } from "./transport.ts"

/**
 * Makes an operation of a method and a path. It takes the session, an identifier for each `*` in the path, a body where
 * the method has one, and the bounds of the call. Without a kind its answer has no content.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- its signature is written beside its path
export const operation = <F>(method: RequestParts["method"], path: string, kind: Kind = ""): F =>
  ((session: ControlPlaneConnection, ...rest: Array<unknown>) => {
    const filled = fill(path, rest)
    const parts = method.startsWith("P") ? jsonParts(method, wire(rest.shift() ?? {})) : { method }
    return session["~send"](filled, json(kind), rest[0] as CallOptions, parts)
  }) as F
