/**
 * The identifier of the current request, which is in the `Request-Id` header and in errors.
 *
 * @since 0.1.0
 */
import type { Ids } from "@govoice/core"
import * as Context from "effect/Context"

/**
 * The identifier of the current request. The server sets it first. Outside of a request it has the default value.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentRequestId = Context.Reference<Ids.RequestId>("@govoice/api/CurrentRequestId", {
  defaultValue: () => "req_00000000000000000000000000"
})
