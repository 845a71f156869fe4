/**
 * Declares the middleware that checks the headers of a submission before its body is read. A server implements it.
 *
 * @since 0.1.0
 */
import type { SandboxScenario } from "@govoice/core"
import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type { CurrentApiKey } from "./DeveloperAuthorization.ts"
import * as Problems from "./Problems.ts"

/**
 * The idempotency key of the submission, its effective scenario (`null` with a live key), and the checks of the document
 * that a test key asked for.
 *
 * @category services
 * @since 0.1.0
 */
export class CurrentSubmission extends Context.Service<
  CurrentSubmission,
  {
    readonly idempotencyKey: string
    readonly scenario: SandboxScenario.Scenario | null
    readonly checks: "schema" | undefined
  }
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
  error: Problems.schemas(
    "missing_idempotency_key",
    "invalid_idempotency_key",
    "invalid_sandbox_scenario",
    "invalid_parameter"
  )
}) {}
