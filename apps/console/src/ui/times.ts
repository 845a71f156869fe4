/**
 * Times in words: relative in lists, complete in titles and records.
 */
import { preference } from "./preferences.ts"
import { texts } from "../text/texts.ts"

const zone = () => (preference("timeZone") === "utc" ? "UTC" : undefined)

const formats = new Map<string, Intl.DateTimeFormat>()

const format = (name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = `${name} ${zone()}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat(texts.locale, { ...options, timeZone: zone() })
  formats.set(key, made)
  return made
}

/** `21 Nov 2026, 10:42:07 UTC` */
export const fullTime = (time: number): string =>
  format("full", { dateStyle: "medium", timeStyle: "long" }).format(time).replace(" at ", ", ")

/** `10:42:07` */
export const clockTime = (time: number): string => format("clock", { timeStyle: "medium" }).format(time)

/** `10:42` */
export const clockMinute = (time: number): string =>
  format("minute", { hour: "2-digit", minute: "2-digit" }).format(time)

/** `21 Nov, 10:42` */
export const shortTime = (time: number): string =>
  format("short", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }).format(time)

/** `20 November 2026`: a day of a document, in no time zone. Other texts stay as they are. */
export const dayOf = (day: string): string =>
  /^\d{4}-\d\d-\d\d$/.test(day)
    ? new Intl.DateTimeFormat(texts.locale, { dateStyle: "long", timeZone: "UTC" }).format(Date.parse(day))
    : day

const minuteMs = 60_000

/** The time zone of the shown times at a time, for the label of a field: `UTC`, `CET`. */
export const zoneName = (time: number): string =>
  format("zone", { timeZoneName: "short" })
    .formatToParts(time)
    .find(({ type }) => type === "timeZoneName")!.value

/** A time as the value of a field of the type `datetime-local`, in the time zone of the shown times. */
export const toField = (time: number): string => {
  const offset = zone() === undefined ? new Date(time).getTimezoneOffset() : 0
  return new Date(time - offset * minuteMs).toISOString().slice(0, 16)
}

/** The time of a field of the type `datetime-local`, or NaN. */
export const ofField = (text: string): number => Date.parse(zone() === undefined ? text : `${text}Z`)

/** `2 min ago`, `in 4 min`, and the date for times more than a day away. */
export const relativeTime = (time: number, now: number): string => {
  const distance = Math.abs(time - now)
  if (distance >= 24 * 60 * minuteMs) return shortTime(time)
  const amount =
    distance < minuteMs
      ? texts.seconds(Math.max(1, Math.round(distance / 1000)))
      : distance < 60 * minuteMs
        ? texts.minutes(Math.round(distance / minuteMs))
        : texts.hours(Math.round(distance / (60 * minuteMs)))
  if (time > now + 1000) return texts.inTime(amount)
  return distance < 10_000 ? texts.justNow : texts.ago(amount)
}

/** `in 4 min`, and `now` when the time has come: what is awaited is not in the past. */
export const awaitedTime = (time: number, now: number): string =>
  time > now + 1000 ? relativeTime(time, now) : texts.now

/** `2.1`, in Polish `2,1` */
const decimal = new Intl.NumberFormat(texts.locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** `38 ms`, `2.1 s`, `3 min` */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < minuteMs) return `${decimal.format(ms / 1000)} s`
  return ms < 60 * minuteMs ? texts.minutes(Math.round(ms / minuteMs)) : texts.hours(Math.round(ms / (60 * minuteMs)))
}
