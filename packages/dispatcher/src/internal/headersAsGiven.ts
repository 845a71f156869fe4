/**
 * Prevents process-wide instrumentation from adding headers to requests of this package.
 *
 * undici publishes each request on a diagnostics channel before it writes it, and tracing libraries add headers such as
 * `traceparent` there. Receivers that strangers chose must not get them.
 */
import { channel } from "node:diagnostics_channel"

const created = channel("undici:request:create")

/** Runs `dispatch`, which creates one request synchronously, and restores its headers to `headers`. */
export const headersAsGiven = (headers: ReadonlyArray<string>, dispatch: () => void): void => {
  if (!created.hasSubscribers) return dispatch()
  const restore = (message: unknown) => {
    const request = requestOf(message)
    if (request === undefined) return
    request["headers"] = [...headers]
    request["host"] = null
    // A subscriber that keeps the request could add headers until it is written.
    request["addHeader"] = () => request
  }
  // Subscribers are called in the order of subscription, so this one is the last.
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
