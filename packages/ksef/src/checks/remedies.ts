/**
 * Rewrites of values that were meant well: how the schema wants them written, where that can be told.
 *
 * @since 0.1.0
 */

/**
 * `1 234,50` is meant as 1234.50. `1,234` may be meant as 1234 or as 1.234, so it is not rewritten.
 *
 * @category formatting
 * @since 0.1.0
 */
export const decimal = (value: string): string | undefined => {
  const plain = value.replaceAll(/[\s\u00A0\u202F]/g, "").replace(/^\+/, "")
  if (/^-?\d{1,3},\d{3}$/.test(plain)) return undefined
  // A comma is a decimal separator if it is the only separator, and the last of several kinds.
  const rewritten = /^-?\d+,\d+$/.test(plain)
    ? plain.replace(",", ".")
    : /^-?\d{1,3}(\.\d{3})+,\d+$/.test(plain)
      ? plain.replaceAll(".", "").replace(",", ".")
      : /^-?\d{1,3}(,\d{3})+\.\d+$/.test(plain)
        ? plain.replaceAll(",", "")
        : plain
  const trimmed = rewritten.replace(/^(-?)0+(?=\d)/, "$1")
  return trimmed !== value && /^-?\d+(\.\d+)?$/.test(trimmed) ? write(trimmed, value) : undefined
}

/**
 * `12.0` and `1 200` are meant as whole numbers.
 *
 * @category formatting
 * @since 0.1.0
 */
export const integer = (value: string): string | undefined => {
  const plain = value.replaceAll(/[\s\u00A0\u202F]/g, "").replace(/[.,]0+$/, "")
  return plain !== value && /^\d+$/.test(plain) ? write(plain, value) : undefined
}

/**
 * `22.11.2026`, `2026/11/22`, `2026-11-22Z` and `2026-11-22T10:00:00Z` are meant as 2026-11-22.
 *
 * @category formatting
 * @since 0.1.0
 */
export const date = (value: string): string | undefined => {
  const day = dayOf(value.trim())
  return day === undefined || day === value ? undefined : write(day, value)
}

/**
 * `2026-11-22 10:00:00` and `22.11.2026` are meant as times of that day.
 *
 * @category formatting
 * @since 0.1.0
 */
export const dateTime = (value: string): string | undefined => {
  const [, given = "", time = "00:00", seconds = ":00"] =
    /^([\d./-]{10})(?:[T ](\d{2}:\d{2})(:\d{2})?)?\S*$/.exec(value.trim()) ?? []
  const day = dayOf(given)
  const rewritten = `${day}T${time}${seconds}Z`
  return day === undefined || rewritten === value ? undefined : write(rewritten, value)
}

/**
 * `PL 526-025-02-74` is meant as 5260250274.
 *
 * @category formatting
 * @since 0.1.0
 */
export const nip = (value: string): string | undefined => {
  const digits = value.replace(/^\s*PL/i, "").replaceAll(/[\s-]/g, "")
  return digits !== value && /^\d{10}$/.test(digits) ? write(digits, value) : undefined
}

const dayOf = (text: string): string | undefined => {
  const [, year, month, day] = /^(\d{4})[-/.](\d{2})[-/.](\d{2})(?:T.*|Z|[+-]\d{2}:\d{2})?$/.exec(text) ?? []
  const [, dayFirst, monthSecond, yearLast] = /^(\d{2})[-/.](\d{2})[-/.](\d{4})$/.exec(text) ?? []
  const written = year === undefined ? `${yearLast}-${monthSecond}-${dayFirst}` : `${year}-${month}-${day}`
  const parsed = new Date(`${written}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(written) ? written : undefined
}

// Suggests only texts that are not longer than the value, or 24 characters, so that nothing long is repeated.
const write = (rewritten: string, value: string): string | undefined =>
  rewritten.length <= Math.max(value.length, 24) && rewritten.length <= 40 ? `write ${rewritten}` : undefined
