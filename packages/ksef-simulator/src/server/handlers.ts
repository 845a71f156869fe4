/**
 * The handler of every operation that the simulator carries out.
 */
import { authorizationHandlers } from "../auth/authorizationHandlers.ts"
import { certificateHandlers } from "../auth/certificateHandlers.ts"
import { authHandlers } from "../auth/handlers.ts"
import { tokenHandlers } from "../auth/tokenHandlers.ts"
import type { Handler } from "../http/Call.ts"
import { limitHandlers } from "../limits/handlers.ts"
import type { OperationName } from "../openapi/operations.ts"
import { batchHandlers } from "../sessions/batchHandlers.ts"
import { onlineHandlers } from "../sessions/onlineHandlers.ts"
import { statusHandlers } from "../sessions/statusHandlers.ts"

/** All handlers. One that is missing does not compile. */
export const handlers: Readonly<Record<OperationName, Handler>> = {
  ...authHandlers,
  ...tokenHandlers,
  ...authorizationHandlers,
  ...certificateHandlers,
  ...limitHandlers,
  ...onlineHandlers,
  ...batchHandlers,
  ...statusHandlers
}
