/** Taxpayers for tests. */

const firstNip = 1_000_000

/** Returns a NIP with the right checksum, another one for each index. */
export const nipOf = (index: number): string => {
  const weights = [6, 5, 7, 2, 3, 4, 5, 6, 7]
  for (let base = firstNip + index * 1000; ; base++) {
    const digits = `5${String(base).padStart(8, "0")}`
    const sum = weights.reduce((total, weight, place) => total + weight * Number(digits[place]), 0) % 11
    if (sum !== 10) return `${digits}${sum}`
  }
}
