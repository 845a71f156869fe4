/**
 * The bars of delivery statistics.
 */
import type { DeliveryBucket } from "@govoice/client"
import type { Bar } from "../../ui/Bars.tsx"

/** Returns one bar for each bucket. Retrying and failed deliveries are in trouble. */
export const barsOf = (buckets: ReadonlyArray<DeliveryBucket>): ReadonlyArray<Bar> =>
  buckets.map(({ capped, failed, retrying, start, total }) => ({
    start,
    total,
    trouble: retrying + failed,
    isCapped: capped
  }))
