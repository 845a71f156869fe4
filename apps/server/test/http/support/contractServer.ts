/**
 * The declared API in memory, with the middleware of the server and handlers that record their arguments.
 */
import { Layer } from "effect"
import * as Contract from "../../../../../packages/api/test/support/server.ts"
import * as MetadataFilter from "../../../src/http/middleware/MetadataFilter.ts"
import * as RequestValidation from "../../../src/http/middleware/RequestValidation.ts"
import * as SubmissionHeaders from "../../../src/http/middleware/SubmissionHeaders.ts"

export { type Answer, type Call, errorOf, keys, sendTo } from "../../../../../packages/api/test/support/server.ts"
export { operations as examples } from "../../../../../packages/api/src/internal/document/examples.ts"

const middleware = Layer.mergeAll(MetadataFilter.layer, RequestValidation.layer, SubmissionHeaders.layer)

/** Starts it. `wrong` replaces the answer of a handler, by operation. */
export const makeServer = (wrong: Readonly<Record<string, unknown>> = {}) => Contract.makeServer(wrong, middleware)
