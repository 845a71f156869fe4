/**
 * The answer to callers that have made too many attempts.
 */
import { Problems } from "@govoice/api"
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import type { Throttled } from "../../limits/Throttled.ts"

/** Fails with `rate_limit_exceeded` and sets `Retry-After`. */
export const fail = ({ waitMs }: Pick<Throttled, "waitMs">) =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(Math.ceil(waitMs / 1000))))
    ),
    Problems.fail("rate_limit_exceeded")
  )
