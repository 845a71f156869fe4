/** The endpoints of the benchmark: 1,000 on 200 names, with a fixed seed, so that every run has the same. */

export const endpointCount = 1000
export const nameCount = 200

/** An endpoint, with its behavior for every request. */
export interface Endpoint {
  readonly name: string
  readonly path: string
  readonly kind: "healthy" | "fails" | "hangs"
  /** Milliseconds from a request to its answer. */
  readonly latencyMs: number
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export const seeded = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const random = seeded(19)

/** Latencies from 20 to 500 ms, most of them short. Of a hundred endpoints five fail and one hangs. */
export const endpoints: ReadonlyArray<Endpoint> = Array.from({ length: endpointCount }, (_, n) => ({
  name: `r${n % nameCount}.receivers.test`,
  path: `/e/${n}`,
  kind: n % 100 === 7 ? "hangs" : n % 20 === 3 ? "fails" : "healthy",
  latencyMs: Math.round(20 * 25 ** random())
}))
