/** Durations in milliseconds, rounded to microseconds. */

export const between = (from: number, to: number): number => Math.round((to - from) * 1_000) / 1_000

export const elapsed = (from: number): number => between(from, performance.now())
