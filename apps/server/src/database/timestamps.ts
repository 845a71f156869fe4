/** Timestamps of the API. */

/** Returns a timestamp as ISO 8601 in UTC with milliseconds. */
export const iso = (date: Date): string => date.toISOString()

/** Returns a timestamp that may be absent. */
export const isoOrNull = (date: Date | null): string | null => (date === null ? null : date.toISOString())
