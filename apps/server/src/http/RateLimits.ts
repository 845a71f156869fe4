/**
 * How often an API key may call, said on every answer.
 *
 * A token bucket for each key; the headers follow the IETF draft «RateLimit header fields for HTTP».
 *
 * @since 0.1.0
 */
import { Problems } from "@govoice/api"
import { Context, Duration, Effect, Layer } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { RateLimiter } from "effect/persistence"
import * as Outage from "../observability/Outage.ts"
import { Settings } from "../settings/Settings.ts"
import type { Grant } from "../store/ApiKeys.ts"

/**
 * Service that takes one request off a key's allowance, or refuses it.
 *
 * @category services
 * @since 0.1.0
 */
export class RateLimits extends Context.Service<
  RateLimits,
  {
    readonly take: (
      grant: Grant
    ) => Effect.Effect<void, Problems.Problem<"rate_limit_exceeded">, HttpServerRequest.HttpServerRequest>
  }
>()("@govoice/server/http/RateLimits") {}

const seconds = (duration: Duration.Duration): number => Math.ceil(Duration.toSeconds(duration))

const addHeaders = (headers: Readonly<Record<string, string>>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )

/**
 * Layer that provides `RateLimits`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.effect(
  RateLimits,
  Effect.gen(function* () {
    const limiter = yield* RateLimiter.RateLimiter
    const { burst, perSecond } = (yield* Settings).rateLimit
    const window = Duration.seconds(burst / perSecond)
    const policy = `"default";q=${burst};w=${seconds(window)}`

    const store = Outage.make({
      away: "The store of the rate limits is not available, so nothing is limited",
      back: "The store of the rate limits is available again"
    })

    const say = (remaining: number, resetSeconds: number) => ({
      "ratelimit-policy": policy,
      ratelimit: `"default";r=${remaining};t=${resetSeconds}`
    })

    return {
      take: Effect.fnUntraced(function* (grant) {
        const taken = yield* Effect.result(
          limiter.consume({ key: grant.id, limit: burst, window, algorithm: "token-bucket" })
        )
        if (taken._tag === "Success") {
          yield* store.met
          yield* addHeaders(say(Math.max(0, Math.floor(taken.success.remaining)), seconds(taken.success.resetAfter)))
          return
        }
        const { reason } = taken.failure
        // A limiter that is down must not take the service down with it.
        if (reason._tag !== "RateLimitExceeded") return yield* store.missed(reason)
        yield* store.met
        const wait = Math.max(1, seconds(reason.retryAfter))
        yield* addHeaders({ ...say(0, wait), "retry-after": String(wait) })
        return yield* Problems.fail("rate_limit_exceeded")
      })
    }
  })
)
