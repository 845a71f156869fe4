/**
 * Parses the `Retry-After` header of a response (RFC 9110 §10.2.3).
 *
 * @since 0.1.0
 */

/**
 * The longest wait that a receiver can request: 6 hours, in milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxRetryAfterMs = 6 * 60 * 60 * 1_000

/**
 * Returns whether a response with this HTTP status may ask for a wait with `Retry-After`: 429 (RFC 6585 §4) and 503 (RFC 9110
 * §10.2.3).
 *
 * @category guards
 * @since 0.1.0
 */
export const mayRequestWait = (status: number): boolean => status === 429 || status === 503

/**
 * Returns the milliseconds to wait from `now`, or `undefined` for an invalid value.
 *
 * **Details**
 *
 * Seconds are decimal digits. A date is in one of the three forms of RFC 9110 §5.6.7 and has to exist; a past date is 0. The
 * result is at most `maxRetryAfterMs`.
 *
 * **Example** (Reading both forms)
 *
 * ```ts import.meta.vitest
 * import { parseRetryAfter } from "@govoice/dispatcher"
 *
 * parseRetryAfter("120", 0) // => 120_000
 * parseRetryAfter("Thu, 01 Jan 1970 00:00:30 GMT", 10_000) // => 20_000
 * parseRetryAfter("soon", 0) // => undefined
 * ```
 *
 * @param value The value of the header.
 * @param now Milliseconds since the epoch.
 * @category parsing
 * @since 0.1.0
 */
export const parseRetryAfter = (value: string, now: number): number | undefined => {
  if (value.length > 64) return undefined
  const text = value.trim()
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : (parseDate(text, now) ?? Number.NaN) - now
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), maxRetryAfterMs)
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const month = `(${months.join("|")})`
const short = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
const long = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
const time = String.raw`(\d\d):(\d\d):(\d\d)`

const fixdate = new RegExp(String.raw`^${short}, (\d\d) ${month} (\d{4}) ${time} GMT$`)
const rfc850 = new RegExp(String.raw`^${long}, (\d\d)-${month}-(\d\d) ${time} GMT$`)
const asctime = new RegExp(String.raw`^${short} ${month} ([ \d]\d) ${time} (\d{4})$`)

const parseDate = (text: string, now: number): number | undefined => {
  let match = fixdate.exec(text)
  if (match !== null) return epochMs(match[3], match[2], match[1], match[4], match[5], match[6])
  match = asctime.exec(text)
  if (match !== null) return epochMs(match[6], match[1], match[2], match[3], match[4], match[5])
  match = rfc850.exec(text)
  if (match === null) return undefined
  // A year of two digits that is more than 50 years ahead is in the past century (RFC 9110 §5.6.7).
  const thisYear = new Date(now).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + Number(match[3])
  return epochMs(year > thisYear + 50 ? year - 100 : year, match[2], match[1], match[4], match[5], match[6])
}

type Field = string | number | undefined

const epochMs = (
  year: Field,
  monthName: string | undefined,
  day: Field,
  hour: Field,
  minute: Field,
  second: Field
): number | undefined => {
  const index = months.indexOf(monthName ?? "")
  const date = new Date(Date.UTC(Number(year), index, Number(day), Number(hour), Number(minute), Number(second)))
  const exists =
    date.getUTCMonth() === index &&
    date.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) <= 60
  return exists ? date.getTime() : undefined
}
