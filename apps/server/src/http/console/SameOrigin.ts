/** Answers requests of the console that a page of another origin sent. */
import { Problems } from "@govoice/api"
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { isSameOrigin } from "../transport/Origin.ts"
import { SameOrigin } from "./ConsoleApi.ts"

/** Provides `SameOrigin`. */
export const layer = Layer.succeed(SameOrigin)((httpEffect) =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    return isSameOrigin(headers) ? yield* httpEffect : yield* Problems.fail("cross_site_request")
  })
)
