/**
 * Requests with a body.
 *
 * @module
 */
import type { RequestParts } from "./transport.ts"

/** The parts of a request with a JSON body. */
export const jsonParts = (
  method: RequestParts["method"],
  body: unknown,
  headers?: Record<string, string>
): RequestParts => ({
  method,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body)
})
