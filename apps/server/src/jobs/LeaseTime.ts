/**
 * The time that is left of a lease, by the monotonic clock of this process.
 *
 * The database decides when a lease expires. A lease begins after its claim was issued, so it lasts at least until its
 * duration has passed since then, however long the database or this process took for the claim.
 */
import { Clock, Effect } from "effect"
import * as MonotonicTime from "../observability/MonotonicTime.ts"

/** Runs a claim, and returns its result with the monotonic time until which its leases last at least. */
export const claimed = <A, E, R>(
  claim: Effect.Effect<A, E, R>,
  leaseMs: number
): Effect.Effect<{ readonly claim: A; readonly leasedUntil: number }, E, R> =>
  Clock.clockWith((clock) => {
    const leasedUntil = MonotonicTime.of(clock) + leaseMs
    return Effect.map(claim, (result) => ({ claim: result, leasedUntil }))
  })
