/**
 * Requests with a body.
 *
 * @module
 */
import { rename } from "./rename.ts"
import type { RequestParts } from "./transport.ts"

/** The parts of a request with a JSON body. The members of the body are in camelCase here. */
export const jsonParts = (body: object, headers?: Record<string, string>): RequestParts => ({
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(rename(body))
})
