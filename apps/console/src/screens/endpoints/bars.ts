/**
 * The bars of delivery statistics.
 */
import type { StatsBucket } from "../../api/operations.ts"
import type { Bar } from "../../ui/Bars.tsx"

/** Returns one bar for each bucket. Retrying and failed deliveries are in trouble. */
export const barsOf = (buckets: ReadonlyArray<StatsBucket>): ReadonlyArray<Bar> =>
  buckets.map(({ capped, failed, retrying, start, total }) => ({
    start,
    total,
    trouble: retrying + failed,
    isCapped: capped
  }))
