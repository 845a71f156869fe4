/**
 * Reads the three headers in one pass if they are well-formed and in a record with lowercase names, as Node provides them.
 * Everything else goes to `headers.ts`, which throws the errors. Without this pass, verification of 1 KiB takes 55 to 70 %
 * longer (paired runs, Node 24.21).
 *
 * @module
 */
import * as general from "../headers.ts"

/** Same result as {@link general.readHeaders}. */
export const readHeaders = (headers: general.WebhookHeaders): general.GovHeaders =>
  readUsual(headers) ?? general.readHeaders(headers)

const readUsual = (headers: general.WebhookHeaders): general.GovHeaders | undefined => {
  if (typeof headers !== "object" || headers === null || Symbol.iterator in headers) return undefined
  const record = headers as { readonly [name: string]: unknown }
  let id: unknown
  let timestamp: unknown
  let signature: unknown
  for (const name in record) {
    if (name === "gov-event-id") id = record[name]
    else if (name === "gov-timestamp") timestamp = record[name]
    else if (name === "gov-signature") signature = record[name]
    // Possibly one of them with uppercase letters.
    else if (name[3] === "-" && (name.length === 12 || name.length === 13)) return undefined
  }
  if (typeof id !== "string" || id === "" || id.includes(", ")) return undefined
  if (typeof signature !== "string" || signature.length !== 67 || !/^v1=[\da-f]+$/.test(signature)) return undefined
  if (typeof timestamp !== "string") return undefined
  const time = readTime(timestamp)
  return time === undefined ? undefined : [id, timestamp, time, [signature.slice(3)]]
}

// Each part is within its range. Only the length of the month remains to be checked.
const usual = /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** Returns milliseconds since the epoch. Faster than `Date.parse`. */
const readTime = (text: string): number | undefined => {
  if (text.length !== 24 || !usual.test(text)) return undefined
  const number = (from: number, to: number) => {
    let value = 0
    for (let at = from; at < to; at += 1) value = value * 10 + text.charCodeAt(at) - 48
    return value
  }
  const day = number(8, 10)
  const time = Date.UTC(
    number(0, 4),
    number(5, 7) - 1,
    day,
    number(11, 13),
    number(14, 16),
    number(17, 19),
    number(20, 23)
  )
  return day < 29 || new Date(time).getUTCDate() === day ? time : undefined
}
