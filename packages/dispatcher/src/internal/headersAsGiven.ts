/**
 * Keeps process-wide instrumentation from adding headers to requests of this package.
 *
 * undici announces every request it makes on a diagnostics channel before it writes it, and tracing libraries use that
 * to add `traceparent` and the like. A receiver that a stranger chose has no business with those.
 */
import { channel } from "node:diagnostics_channel"

const created = channel("undici:request:create")

/** Runs `dispatch`, which makes one request at once, and puts the headers back to `headers`. */
export const headersAsGiven = (headers: ReadonlyArray<string>, dispatch: () => void): void => {
  if (!created.hasSubscribers) return dispatch()
  const restore = (message: unknown) => {
    const request = requestOf(message)
    if (request === undefined) return
    request["headers"] = [...headers]
    request["host"] = null
    // Whoever kept the request may still ask for more until it is written.
    request["addHeader"] = () => request
  }
  // Subscribers are called in the order in which they came, so this one is the last.
  created.subscribe(restore)
  try {
    dispatch()
  } finally {
    created.unsubscribe(restore)
  }
}

const requestOf = (message: unknown): Record<string, unknown> | undefined => {
  const request = isRecord(message) ? message["request"] : undefined
  return isRecord(request) ? request : undefined
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
