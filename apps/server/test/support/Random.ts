/** Random numbers that a seed determines (mulberry32), so that a run can be had again. */
export const makeRandom = (seed: number) => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    chance: (part: number) => next() < part,
    /** A whole number from 0, below the bound. */
    upTo: (bound: number) => Math.floor(next() * bound),
    of: <A>(all: ReadonlyArray<A>): A => all[Math.floor(next() * all.length)]!
  }
}
