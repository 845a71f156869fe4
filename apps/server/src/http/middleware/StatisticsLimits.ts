/** Limits how often an account asks for counts, which cost more than records do. */
import type { Ids } from "@govoice/core"
import { Context, Effect, Layer } from "effect"
import { SlidingWindowStore } from "../../limits/SlidingWindows.ts"
import { failWhileWaiting, type Throttled } from "../../limits/Throttled.ts"

/** How often an account may ask in ten seconds: twice a second. */
export const maxRequests = 20

/** Service that counts the requests of accounts. */
export class StatisticsLimits extends Context.Service<
  StatisticsLimits,
  { readonly take: (accountId: Ids.AccountId) => Effect.Effect<void, Throttled> }
>()("@govoice/server/http/middleware/StatisticsLimits") {}

/** Provides `StatisticsLimits`. */
export const layer: Layer.Layer<StatisticsLimits, never, SlidingWindowStore> = Layer.effect(
  StatisticsLimits,
  Effect.map(SlidingWindowStore, (windows) => {
    const limit = { name: "statistics", limit: maxRequests, windowMs: 10_000 }
    const requests = windows.make(limit)
    return { take: (accountId) => Effect.flatMap(requests.take(accountId), failWhileWaiting(limit)) }
  })
)
