/**
 * Requests with a JSON body.
 *
 * @module
 */
import { toWire } from "./rename.ts"
import type { RequestParts } from "./transport.ts"

/** Returns the headers and body of a JSON request. The members of `body` are in camelCase. */
export const jsonParts = (body: object, headers?: Record<string, string>): RequestParts => ({
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(toWire(body))
})
