/**
 * Limits the requests and the body bytes of an API key and of its organization, and the requests of an account. `Authorization` applies them.
 *
 * Each is a token bucket. The headers follow the IETF draft «RateLimit header fields for HTTP»: `RateLimit-Policy` and
 * `RateLimit` name the limit of requests of the key on every response, and that of bytes where the request has a body. A
 * response with `rate_limit_exceeded` names the limit that was exceeded.
 */
import { Problems } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { Context, Duration, Effect, Layer } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { RateLimiter } from "effect/persistence"
import type { ApiKeyIdentity } from "../../accounts/ApiKeys.ts"
import { Settings } from "../../settings/Settings.ts"
import { maxDocumentBodyBytes } from "./BodyReading.ts"

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
    readonly takeOfAccount: (
      id: Ids.AccountId
    ) => Effect.Effect<void, Problems.Problem<"rate_limit_exceeded">, HttpServerRequest.HttpServerRequest>
  }
>()("@govoice/server/http/middleware/RateLimits") {}

interface Limit {
  /** The name of the limit in the headers. */
  readonly name: string
  readonly policy: string
  /** Distinguishes the buckets of an identifier. */
  readonly suffix: string
  /** The size of a token. */
  readonly unit: number
  /** The size of the bucket, in tokens. */
  readonly tokens: number
  readonly window: Duration.Duration
}

/** The remaining part of a limit. */
interface Remaining {
  readonly limit: Limit
  readonly remaining: number
  readonly resetSeconds: number
}

const seconds = (duration: Duration.Duration): number => Math.ceil(Duration.toSeconds(duration))

const requestLimit = (name: string, burst: number, perSecond: number): Limit => {
  const window = Duration.seconds(burst / perSecond)
  return {
    name,
    policy: `"${name}";q=${burst};w=${seconds(window)}`,
    suffix: "",
    unit: 1,
    tokens: burst,
    window
  }
}

// A token is a KiB: the limiter rounds the time that a token takes to nanoseconds, and a byte would take less.
const byteUnit = 1024
const byteBurstSeconds = 4

const byteLimit = (name: string, perSecond: number): Limit => ({
  name,
  policy: `"${name}";q=${byteBurstSeconds * perSecond};w=${byteBurstSeconds};qu="content-bytes"`,
  suffix: ":bytes",
  unit: byteUnit,
  tokens: Math.floor((byteBurstSeconds * perSecond) / byteUnit),
  window: Duration.seconds(byteBurstSeconds)
})

const addHeaders = (headers: Readonly<Record<string, string>>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )

const reportRemaining = (all: ReadonlyArray<Remaining>) =>
  addHeaders({
    "ratelimit-policy": all.map(({ limit }) => limit.policy).join(", "),
    ratelimit: all
      .map(({ limit, remaining, resetSeconds }) => `"${limit.name}";r=${remaining};t=${resetSeconds}`)
      .join(", ")
  })

/** Provides `RateLimits`. */
export const layer = Layer.effect(
  RateLimits,
  Effect.gen(function* () {
    const limiter = yield* RateLimiter.RateLimiter
    const { account, burst, bytesPerSecond, organizationMultiple, perSecond } = (yield* Settings).rateLimit
    const ofKey = { requests: requestLimit("default", burst, perSecond), bytes: byteLimit("bytes", bytesPerSecond) }
    const ofOrganization = {
      requests: requestLimit("organization", organizationMultiple * burst, organizationMultiple * perSecond),
      bytes: byteLimit("organization-bytes", organizationMultiple * bytesPerSecond)
    }
    const ofAccount = requestLimit("account", account.burst, account.perSecond)

    const refuse = Effect.fnUntraced(function* (limit: Limit, reason: RateLimiter.RateLimiterError["reason"]) {
      // The stores count in memory while Redis is unavailable, and memory does not fail.
      if (reason._tag !== "RateLimitExceeded") return yield* Effect.die(reason)
      const retryAfter = Math.max(1, seconds(reason.retryAfter))
      yield* reportRemaining([{ limit, remaining: 0, resetSeconds: retryAfter }])
      yield* addHeaders({ "retry-after": String(retryAfter) })
      return yield* Problems.fail("rate_limit_exceeded")
    })

    /** Takes tokens, and returns what is left, or fails. */
    const consume = (limit: Limit, id: string, amount: number, onExceeded: "delay" | "fail") =>
      Effect.matchEffect(
        limiter.consume({
          key: `${id}${limit.suffix}`,
          limit: limit.tokens,
          window: limit.window,
          algorithm: "token-bucket",
          tokens: Math.ceil(amount / limit.unit),
          onExceeded
        }),
        {
          onSuccess: ({ remaining, resetAfter }) =>
            Effect.succeed<Remaining>({
              limit,
              remaining: Math.max(0, Math.floor(remaining)) * limit.unit,
              resetSeconds: seconds(resetAfter)
            }),
          onFailure: ({ reason }) => refuse(limit, reason)
        }
      )

    return {
      take: Effect.fnUntraced(function* ({ id, organizationId }) {
        const { "content-length": length, "transfer-encoding": encoding } = (yield* HttpServerRequest.HttpServerRequest)
          .headers
        // A chunked body counts when it has arrived. Until then, it needs a byte. A body beyond the limit of its size is not
        // read, and answered as too large.
        const announced = Math.min(encoding === undefined ? Number(length ?? 0) : 1, maxDocumentBodyBytes)
        const remaining = [yield* consume(ofKey.requests, id, 1, "fail")]
        if (announced > 0) remaining.push(yield* consume(ofKey.bytes, id, announced, "fail"))
        // After those of the key: what one key is refused is not taken from the others.
        yield* consume(ofOrganization.requests, organizationId, 1, "fail")
        if (announced > 0) yield* consume(ofOrganization.bytes, organizationId, announced, "fail")
        yield* reportRemaining(remaining)
      }),

      takeUnannounced: Effect.fnUntraced(function* ({ id, organizationId }, count) {
        yield* Effect.ignore(consume(ofKey.bytes, id, count, "delay"))
        yield* Effect.ignore(consume(ofOrganization.bytes, organizationId, count, "delay"))
      }),

      takeOfAccount: (id) => Effect.asVoid(consume(ofAccount, id, 1, "fail"))
    }
  })
)
