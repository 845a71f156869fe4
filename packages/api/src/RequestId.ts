/**
 * The identifier of the request being handled, as it stands in the `Request-Id` header and in every error.
 *
 * @since 0.1.0
 */
import type { Ids } from "@govoice/core"
import * as Context from "effect/Context"

/**
 * The identifier of the current request. The server sets it before anything else happens; outside a request it is the
 * identifier of nothing.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentRequestId = Context.Reference<Ids.RequestId>("@govoice/api/CurrentRequestId", {
  defaultValue: () => "req_00000000000000000000000000"
})
