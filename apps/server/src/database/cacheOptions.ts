/** The options of caches of queries. */
import { Duration, Exit } from "effect"

/** Keeps the results of so many queries for so long. One that failed is not kept: the database may be available for the next request. */
export const cacheOptions = (capacity: number, timeToLive: Duration.Duration) => ({
  capacity,
  timeToLive: (exit: Exit.Exit<unknown>) => (Exit.isSuccess(exit) ? timeToLive : Duration.zero)
})
