/** Returns the least value that this part of all values, from 0 to 1, does not exceed. There is at least one value. */
export const percentile = (sorted: ReadonlyArray<number>, part: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)]!
