/**
 * Limits the requests and the body bytes of an API key and of its organization, and the requests of an account. `Authorization` applies them.
 *
 * Each is a token bucket. The headers follow the IETF draft "RateLimit header fields for HTTP": `RateLimit-Policy` and
 * `RateLimit` name the limit of requests of the key on every response, and that of bytes where the request has a body. A
 * response with `rate_limit_exceeded` names the limit that was exceeded.
 */
import type { Problems } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { Context, Duration, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { RateLimiter } from "effect/persistence"
import type { ApiKeyIdentity } from "../../accounts/ApiKeys.ts"
import { Settings } from "../../settings/Settings.ts"
import type { NamedLimit } from "../../limits/Throttled.ts"
import { maxDocumentBodyBytes } from "./BodyReading.ts"
import * as Throttling from "./Throttling.ts"

type Key = Pick<ApiKeyIdentity, "id" | "organizationId">

/** Limits API keys, organizations and accounts. */
export class RateLimits extends Context.Service<
  RateLimits,
  {
    /** Takes the current request, and the bytes that its `Content-Length` announces, or fails. */
    readonly take: (
      key: Key
    ) => Effect.Effect<void, Problems.Problem<"rate_limit_exceeded">, HttpServerRequest.HttpServerRequest>
    /** Takes the bytes of a body that was sent in chunks. They count against the requests that follow. */
    readonly takeUnannounced: (
      key: Key,
      bytes: number
    ) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
    /** Takes a request of an account, or fails. */
    readonly takeForAccount: (
      id: Ids.AccountId
    ) => Effect.Effect<void, Problems.Problem<"rate_limit_exceeded">, HttpServerRequest.HttpServerRequest>
  }
>()("@govoice/server/http/middleware/RateLimits") {}

interface Limit {
  readonly named: NamedLimit
  readonly policy: string
  /** Distinguishes the buckets of an identifier. */
  readonly suffix: string
  /** The size of a token. */
  readonly unit: number
  /** The size of the bucket, in tokens. */
  readonly tokens: number
  /** How long an empty bucket takes to fill. */
  readonly window: Duration.Duration
}

/** The remaining part of a limit. */
interface Remaining {
  readonly limit: Limit
  readonly remaining: number
  readonly resetSeconds: number
}

const requestLimit = (name: string, burst: number, perSecond: number): Limit => {
  const window = Duration.max(Duration.seconds(burst / perSecond), Duration.millis(1))
  const named = { name, quota: burst, windowMs: Duration.toMillis(window) }
  return { named, policy: Throttling.policyOf(named), suffix: "", unit: 1, tokens: burst, window }
}

// A token is a KiB: the time that a token takes is rounded to nanoseconds, and a byte would take less.
const byteUnit = 1024
const byteBurstSeconds = 4

const byteLimit = (name: string, perSecond: number): Limit => {
  const window = Duration.seconds(byteBurstSeconds)
  const named = {
    name,
    quota: byteBurstSeconds * perSecond,
    unit: "content-bytes",
    windowMs: Duration.toMillis(window)
  } as const
  return {
    named,
    policy: Throttling.policyOf(named),
    suffix: ":bytes",
    unit: byteUnit,
    tokens: Math.floor((byteBurstSeconds * perSecond) / byteUnit),
    window
  }
}

const reportRemaining = (all: ReadonlyArray<Remaining>) =>
  Throttling.addHeaders({
    "ratelimit-policy": all.map(({ limit }) => limit.policy).join(", "),
    ratelimit: all
      .map(({ limit, remaining, resetSeconds }) => `"${limit.named.name}";r=${remaining};t=${resetSeconds}`)
      .join(", ")
  })

/** All keys of an organization together have so many times the limits of one key. */
const organizationMultiple = 2

/** Provides `RateLimits`. */
export const layer = Layer.effect(
  RateLimits,
  Effect.gen(function* () {
    const limiter = yield* RateLimiter.make
    const { account, burst, bytesPerSecond, perSecond } = (yield* Settings).rateLimit
    const keyLimits = { requests: requestLimit("default", burst, perSecond), bytes: byteLimit("bytes", bytesPerSecond) }
    const organizationLimits = {
      requests: requestLimit("organization", organizationMultiple * burst, organizationMultiple * perSecond),
      bytes: byteLimit("organization-bytes", organizationMultiple * bytesPerSecond)
    }
    const accountLimit = requestLimit("account", account.burst, account.perSecond)

    /** Takes tokens, and returns what is left, or fails. */
    const consume = (limit: Limit, id: string, amount: number, onExceeded: "delay" | "fail") => {
      const { named, suffix, tokens, unit, window } = limit
      return limiter
        .consume({
          algorithm: "token-bucket",
          key: `${id}${suffix}`,
          limit: tokens,
          onExceeded,
          tokens: Math.ceil(amount / unit),
          window
        })
        .pipe(
          Effect.map(({ remaining, resetAfter }): Remaining => ({
            limit,
            remaining: Math.max(0, Math.floor(remaining)) * unit,
            resetSeconds: Throttling.seconds(Duration.toMillis(resetAfter))
          })),
          // The stores count in memory while Redis is unavailable, and memory does not fail.
          Effect.catch(({ reason }) =>
            reason._tag === "RateLimitExceeded"
              ? Throttling.fail({ limit: named, waitMs: Duration.toMillis(reason.retryAfter) })
              : Effect.die(reason)
          )
        )
    }

    return {
      take: Effect.fnUntraced(function* ({ id, organizationId }) {
        const { "content-length": length, "transfer-encoding": encoding } = (yield* HttpServerRequest.HttpServerRequest)
          .headers
        // A chunked body counts when it has arrived. Until then, it needs a byte. A body beyond the limit of its size is not
        // read, and answered as too large.
        const announced = Math.min(encoding === undefined ? Number(length ?? 0) : 1, maxDocumentBodyBytes)
        const remaining = [yield* consume(keyLimits.requests, id, 1, "fail")]
        if (announced > 0) remaining.push(yield* consume(keyLimits.bytes, id, announced, "fail"))
        // After those of the key: what one key is refused is not taken from the others.
        yield* consume(organizationLimits.requests, organizationId, 1, "fail")
        if (announced > 0) yield* consume(organizationLimits.bytes, organizationId, announced, "fail")
        yield* reportRemaining(remaining)
      }),

      takeUnannounced: Effect.fnUntraced(function* ({ id, organizationId }, count) {
        yield* Effect.ignore(consume(keyLimits.bytes, id, count, "delay"))
        yield* Effect.ignore(consume(organizationLimits.bytes, organizationId, count, "delay"))
      }),

      takeForAccount: (id) => Effect.asVoid(consume(accountLimit, id, 1, "fail"))
    }
  })
)
