/**
 * Moments as the API of KSeF writes them in JSON: UTC with seven fractional digits.
 */

/**
 * Formats milliseconds: `2025-07-11T12:23:56.0159302+00:00`. The four digits below the millisecond come from `digits`, so
 * that a client that rounds instead of cutting off is a millisecond late.
 */
export const timestamp = (millis: number, digits = "0000"): string =>
  `${new Date(millis).toISOString().slice(0, -1)}${digits}+00:00`

/** Formats whole seconds, as KSeF does for the expiry of links. */
export const wholeSeconds = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}+00:00`
