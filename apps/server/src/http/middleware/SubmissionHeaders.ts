/**
 * Checks the headers of a submission before its body is read.
 */
import { DeveloperAuthorization, Problems, Submission, SubmissionHeaders } from "@govoice/api"
import { SandboxScenario } from "@govoice/core"
import { Effect, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"

const isIdempotencyKey = Schema.is(Submission.IdempotencyKey)

const isChecks = Schema.is(Schema.Literal("schema"))

const isScenario = Schema.is(SandboxScenario.Scenario)

/** Provides `SubmissionHeaders`. */
export const layer: Layer.Layer<SubmissionHeaders.SubmissionHeaders> = Layer.succeed(
  SubmissionHeaders.SubmissionHeaders
)(
  Effect.fnUntraced(function* (httpEffect) {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const { mode } = yield* DeveloperAuthorization.CurrentApiKey

    const idempotencyKey = headers["idempotency-key"] ?? ""
    if (idempotencyKey === "") return yield* Problems.fail("missing_idempotency_key")
    if (!isIdempotencyKey(idempotencyKey)) return yield* Problems.fail("invalid_idempotency_key")

    const given = headers["gov-sandbox-scenario"] ?? SandboxScenario.defaultScenario
    if (mode === "test" && !isScenario(given)) return yield* Problems.fail("invalid_sandbox_scenario")
    const scenario = mode === "test" && isScenario(given) ? given : null

    const checks = mode === "test" ? headers["gov-sandbox-checks"] : undefined
    if (checks !== undefined && !isChecks(checks)) {
      return yield* Problems.fail("invalid_parameter", {
        param: "Gov-Sandbox-Checks",
        message: "The Gov-Sandbox-Checks header must be: schema."
      })
    }

    return yield* Effect.provideService(httpEffect, SubmissionHeaders.CurrentSubmission, {
      idempotencyKey,
      scenario,
      checks
    })
  })
)
