/**
 * The operations of the control plane but lists and logins: all alike.
 *
 * @module
 */
import type { CallOptions } from "../connection.ts"
import type { Session } from "../session.ts"
import { json, type Kind, nothing } from "./decode.ts"
import { wire } from "./paths.ts"
import type { Call } from "./transport.ts"

/** Makes one call. Without a kind the answer has no content. */
export const operation = <A>(
  session: Session,
  method: Call<A>["method"],
  path: string,
  options: CallOptions | undefined,
  kind?: Kind,
  body?: object
): Promise<A> =>
  session["~send"](
    {
      method,
      path: `/control-plane${path}`,
      read: kind ? json<A>(kind) : (nothing as Call<A>["read"]),
      ...(body && { body: wire(body) })
    },
    options
  )
