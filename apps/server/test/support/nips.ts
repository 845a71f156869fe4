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

/** Returns the internal identifier of a unit of a taxpayer. */
export const unitOf = (nip: string): string => {
  const digits = Array.from(`${nip}1234`, Number)
  return `${nip}-1234${digits.reduce((sum, digit, index) => sum + digit * (index % 2 === 0 ? 1 : 3), 0) % 10}`
}
