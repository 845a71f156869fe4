/** Whether a value is an outcome as the documentation describes it. */

const reasons = ["timeout", "dns", "connect", "tls", "reset", "protocol"]

/** Reasons of a request that left. */
const afterSending = ["timeout", "reset", "protocol"]
/** Reasons of a request that did not leave. */
const beforeSending = ["timeout", "connect", "tls", "reset", "protocol"]

const members: Readonly<Record<string, ReadonlyArray<string>>> = {
  Delivered: ["_tag", "status", "attempted", "durationMs"],
  Refused: ["_tag", "status", "retryable", "retryAfterMs", "attempted", "durationMs"],
  Failed: ["_tag", "reason", "retryable", "attempted", "durationMs"]
}

/** Returns the fault of an outcome of a target that may be reached, or `undefined`. */
export const faultOf = (outcome: unknown): string | undefined => {
  if (typeof outcome !== "object" || outcome === null) return "not an object"
  const { _tag, attempted, durationMs, reason, retryable, retryAfterMs, status } = outcome as Record<string, unknown>
  const known = members[String(_tag)]
  if (known === undefined) return "unknown tag"
  if (Object.keys(outcome).some((name) => !known.includes(name))) return "unknown member"
  if (typeof durationMs !== "number" || !(durationMs >= 0) || durationMs > 60_000) return "bad durationMs"
  if (typeof attempted !== "boolean") return "bad attempted"
  if (_tag === "Failed") {
    if (typeof reason !== "string" || !reasons.includes(reason)) return "bad reason"
    if (retryable !== true) return "a failure that is not retryable"
    return (attempted ? afterSending : beforeSending).includes(reason) ? undefined : "attempted does not fit the reason"
  }
  if (!attempted) return "a response without a request"
  if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599) return "bad status"
  if (_tag === "Delivered") return status < 300 ? undefined : "delivered with an error"
  if (status < 300) return "refused with a success"
  if (retryable !== (status === 429 || status >= 500)) return "bad retryable"
  if (retryAfterMs === undefined) return undefined
  if (status !== 429 && status !== 503) return "retryAfterMs for another status"
  return typeof retryAfterMs === "number" && retryAfterMs >= 0 && retryAfterMs <= 21_600_000
    ? undefined
    : "bad retryAfterMs"
}
