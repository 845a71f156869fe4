/**
 * Points in time between the database and the wire.
 *
 * @since 0.1.0
 */

/**
 * The text of a point in time on the wire: ISO 8601 in UTC with milliseconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const iso = (date: Date): string => date.toISOString()

/**
 * The text of a point in time that may be absent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const isoOrNull = (date: Date | null): string | null => (date === null ? null : date.toISOString())
