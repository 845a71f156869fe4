/**
 * Times as KSeF writes them in documents: in the time zone `Europe/Warsaw`.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"

const warsaw = DateTime.zoneMakeNamedUnsafe("Europe/Warsaw")

/**
 * Formats milliseconds since the epoch with milliseconds and the Polish offset: `2025-09-16T11:05:40.841+02:00`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const timestamp = (millis: number): string =>
  DateTime.formatIsoOffset(DateTime.makeZonedUnsafe(millis, { timeZone: warsaw }))

/**
 * Formats the calendar day in Poland: `2025-09-16`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const day = (millis: number): string => timestamp(millis).slice(0, 10)

/**
 * Formats the calendar day in Poland as KSeF's numbers contain it: `20250916`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const compactDay = (millis: number): string => day(millis).replaceAll("-", "")
