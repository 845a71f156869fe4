/**
 * The headers of a submission, judged before the body is read.
 *
 * @since 0.1.0
 */
import { SandboxScenario } from "@govoice/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { CurrentApiKey } from "./DeveloperAuthorization.ts"
import * as Problems from "./Problems.ts"
import { IdempotencyKey } from "./Submission.ts"

/**
 * The idempotency key of the submission, and its effective scenario: `null` with a live key.
 *
 * @category services
 * @since 0.1.0
 */
export class CurrentSubmission extends Context.Service<
  CurrentSubmission,
  { readonly idempotencyKey: string; readonly scenario: SandboxScenario.Scenario | null }
>()("@govoice/api/CurrentSubmission") {}

/**
 * Middleware that turns the headers of a submission into the `CurrentSubmission`.
 *
 * @category services
 * @since 0.1.0
 */
export class SubmissionHeaders extends HttpApiMiddleware.Service<
  SubmissionHeaders,
  { provides: CurrentSubmission; requires: CurrentApiKey }
>()("@govoice/api/SubmissionHeaders", {
  error: Problems.schemas("missing_idempotency_key", "invalid_idempotency_key", "invalid_sandbox_scenario")
}) {}

const isIdempotencyKey = Schema.is(IdempotencyKey)

const isScenario = Schema.is(SandboxScenario.Scenario)

/**
 * Layer that provides `SubmissionHeaders`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<SubmissionHeaders> = Layer.succeed(SubmissionHeaders)(
  Effect.fnUntraced(function* (httpEffect) {
    const { headers } = yield* HttpServerRequest
    const { mode } = yield* CurrentApiKey

    const idempotencyKey = headers["idempotency-key"] ?? ""
    if (idempotencyKey === "") return yield* Problems.fail("missing_idempotency_key")
    if (!isIdempotencyKey(idempotencyKey)) return yield* Problems.fail("invalid_idempotency_key")

    const given = headers["gov-sandbox-scenario"] ?? SandboxScenario.defaultScenario
    if (mode === "test" && !isScenario(given)) return yield* Problems.fail("invalid_sandbox_scenario")
    const scenario = mode === "test" && isScenario(given) ? given : null

    return yield* Effect.provideService(httpEffect, CurrentSubmission, { idempotencyKey, scenario })
  })
)
