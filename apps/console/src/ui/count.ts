/** A count of the overview. Counts stop at 1,000. */
export const count = (value: number): string => (value >= 1000 ? "1000+" : String(value))
