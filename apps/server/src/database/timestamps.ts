/** Points in time between the database and the wire. */

/** The text of a point in time on the wire: ISO 8601 in UTC with milliseconds. */
export const iso = (date: Date): string => date.toISOString()

/** The text of a point in time that may be absent. */
export const isoOrNull = (date: Date | null): string | null => (date === null ? null : date.toISOString())
