/**
 * The working days of Poland: Monday to Friday without the holidays of the law of 18 January 1951, which has 24 December since
 * 2025. Days are calendar days in Poland, `YYYY-MM-DD`.
 *
 * @since 0.1.0
 */

/**
 * Returns whether a day is neither Saturday nor Sunday nor a holiday.
 *
 * @category guards
 * @since 0.1.0
 */
export const isWorkingDay = (day: string): boolean => {
  const date = parse(day)
  const weekday = date.getUTCDay()
  if (weekday === 0 || weekday === 6 || fixedHolidays.has(day.slice(5))) return false
  const sinceEaster = (date.getTime() - easter(date.getUTCFullYear())) / dayMs
  return !movableHolidays.has(sinceEaster)
}

/**
 * Returns the first working day after a day: the last one on which an invoice that was issued offline on that day may be sent to
 * KSeF.
 *
 * **Example** (Over Christmas)
 *
 * ```ts import.meta.vitest
 * import { WorkingDays } from "@govoice/ksef/format"
 *
 * WorkingDays.next("2026-12-23") // => "2026-12-28"
 * ```
 *
 * @category conversions
 * @since 0.1.0
 */
export const next = (day: string): string => {
  const following = format(parse(day).getTime() + dayMs)
  return isWorkingDay(following) ? following : next(following)
}

/**
 * Returns the last of seven working days after a day: the last one on which an invoice may be sent to KSeF that was issued offline
 * during a failure, or shortly before, if the failure ended on that day.
 *
 * **Example** (Over Christmas)
 *
 * ```ts import.meta.vitest
 * import { WorkingDays } from "@govoice/ksef/format"
 *
 * WorkingDays.afterFailure("2026-12-23") // => "2027-01-07"
 * ```
 *
 * @category conversions
 * @since 0.1.0
 */
export const afterFailure = (day: string): string => {
  let last = day
  for (let count = 0; count < 7; count++) last = next(last)
  return last
}

const dayMs = 86_400_000

const parse = (day: string): Date => new Date(`${day}T00:00:00Z`)
const format = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

const fixedHolidays: ReadonlySet<string> = new Set([
  "01-01",
  "01-06",
  "05-01",
  "05-03",
  "08-15",
  "11-01",
  "11-11",
  "12-24",
  "12-25",
  "12-26"
])

// Days after Easter Sunday. Easter and Pentecost are Sundays: Easter Monday, and Corpus Christi, which is a Thursday.
const movableHolidays: ReadonlySet<number> = new Set([1, 60])

// The Gregorian computus in its anonymous form (Nature, 1876).
const easter = (year: number): number => {
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const d = Math.floor(b / 4)
  const e = b % 4
  const g = Math.floor((8 * b + 13) / 25)
  const h = (19 * a + b - d - g + 15) % 30
  const l = (32 + 2 * e + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const m = Math.floor((a + 11 * h + 19 * l) / 433)
  const month = Math.floor((h + l - 7 * m + 90) / 25)
  const dayOfMonth = (h + l - 7 * m + 33 * month + 19) % 32
  return Date.UTC(year, month - 1, dayOfMonth)
}
