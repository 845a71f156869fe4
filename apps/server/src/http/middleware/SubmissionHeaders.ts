/**
 * Checks the headers of a submission before its body is read.
 */
import { DeveloperAuthorization, Problems, Submission, SubmissionHeaders } from "@govoice/api"
import { SandboxScenario } from "@govoice/core"
import { Effect, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"

const isIdempotencyKey = Schema.is(Submission.IdempotencyKey)

const isChecks = Schema.is(Schema.Literal("schema"))

const isScenario = Schema.is(SandboxScenario.Scenario)

// Node joins repeated headers with a comma, and a key may contain one.
const isRepeated = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  source instanceof IncomingMessage &&
  headers["idempotency-key"]?.includes(",") === true &&
  (source.headersDistinct["idempotency-key"]?.length ?? 0) > 1

/** Provides `SubmissionHeaders`. */
export const layer: Layer.Layer<SubmissionHeaders.SubmissionHeaders> = Layer.succeed(
  SubmissionHeaders.SubmissionHeaders
)(
  Effect.fnUntraced(function* (httpEffect) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers } = request
    const { mode } = yield* DeveloperAuthorization.CurrentApiKey

    const idempotencyKey = headers["idempotency-key"] ?? ""
    if (idempotencyKey === "") return yield* Problems.fail("missing_idempotency_key")
    if (!isIdempotencyKey(idempotencyKey)) return yield* Problems.fail("invalid_idempotency_key")
    if (isRepeated(request)) {
      return yield* Problems.fail("invalid_idempotency_key", {
        message: "The Idempotency-Key header was sent more than once. Send it once."
      })
    }

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
