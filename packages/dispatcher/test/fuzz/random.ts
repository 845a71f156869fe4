/** Seeded random numbers, so that a case can be generated again from its seed and its number. */

export interface Random {
  /** A number from 0 up to 1. */
  readonly next: () => number
  /** A whole number from `min` to `max`. */
  readonly integer: (min: number, max: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(values: ReadonlyArray<A>) => A
}

/** Mulberry32, seeded with a hash of the parts. */
export const seeded = (...parts: ReadonlyArray<number>): Random => {
  let state = 0x9e3779b9
  for (const part of parts) state = Math.imul(state ^ part, 0x85ebca6b) ^ (state >>> 13)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (values) => values[integer(0, values.length - 1)]!
  }
}
