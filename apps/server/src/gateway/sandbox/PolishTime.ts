/**
 * Moments as the national system writes them: on Polish clocks.
 *
 * @since 0.1.0
 */
import { DateTime } from "effect"

const polish = (millis: number) => DateTime.makeZonedUnsafe(millis, { timeZone: warsaw })

const warsaw = DateTime.zoneMakeNamedUnsafe("Europe/Warsaw")

/**
 * Writes a moment with milliseconds and the Polish offset: `2025-09-16T11:05:40.841+02:00`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const timestamp = (millis: number): string => DateTime.formatIsoOffset(polish(millis))

/**
 * Writes the calendar day in Poland: `2025-09-16`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const day = (millis: number): string => timestamp(millis).slice(0, 10)

/**
 * Writes the calendar day in Poland the way it stands in numbers: `20250916`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const compactDay = (millis: number): string => day(millis).replaceAll("-", "")
