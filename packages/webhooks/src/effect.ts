/**
 * The functions of the root entry as Effects. The types are those of the root entry.
 *
 * @module
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { WebhookVerificationError } from "./error.ts"
import type { WebhookBody } from "./body.ts"
import type { WebhookHeaders } from "./headers.ts"
import { nodeCrypto } from "./internal/platform.ts"
import * as Signer from "./sign.ts"
import type { SignedHeaders, SignedHeadersOptions, SignOptions } from "./sign.ts"
import * as Root from "./verifier.ts"
import type { VerifiedWebhook, WebhookRequest } from "./verifier.ts"

export { WebhookVerificationError } from "./error.ts"

/**
 * The options of {@link createVerifier}: those of the root entry, and `now` may be an Effect.
 *
 * @category models
 * @since 0.1.0
 */
export type VerifierOptions = DistributiveOmit<Root.VerifierOptions, "now"> & {
  /**
   * The clock, in milliseconds since the epoch. Pass `Clock.currentTimeMillis` to control it with `TestClock`. It is not
   * the default, because the `Clock` module is a fifth of the bundle.
   *
   * @default Date.now
   */
  readonly now?: (() => number) | Effect.Effect<number> | undefined
}

type DistributiveOmit<A, K extends PropertyKey> = A extends unknown ? Omit<A, K> : never

/**
 * A verifier whose operations are Effects.
 *
 * @category models
 * @since 0.1.0
 */
export interface Verifier {
  /** Verifies a webhook and succeeds with its event. Synchronous if the runtime has `node:crypto`. */
  readonly verify: (
    body: WebhookBody,
    headers: WebhookHeaders
  ) => Effect.Effect<VerifiedWebhook, WebhookVerificationError>
  /** Reads the body of a `Request`, then verifies it. An error while reading the body is a defect. */
  readonly verifyRequest: (request: WebhookRequest) => Effect.Effect<VerifiedWebhook, WebhookVerificationError>
  /** Verifies synchronously. Dies if the runtime has no `node:crypto`. */
  readonly verifySync: Verifier["verify"]
}

/**
 * Creates a verifier for the webhooks of one endpoint.
 *
 * **Details**
 *
 * If the runtime has `node:crypto`, `Effect.runSync` can run `verify`.
 *
 * **Example** (Verifying in an Effect)
 *
 * ```ts import.meta.vitest
 * import { createVerifier } from "@govoice/webhooks/effect"
 * import { signedWebhook } from "@govoice/webhooks/testing"
 * import * as Effect from "effect/Effect"
 *
 * const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
 * const verifier = createVerifier({ secret })
 * const { body, headers } = signedWebhook({ secret, type: "invoice.rejected" })
 *
 * const program = verifier.verify(body, headers).pipe(
 *   Effect.map(({ event }) => event.type),
 *   Effect.catchTag("WebhookVerificationError", ({ code }) => Effect.succeed(code))
 * )
 *
 * await Effect.runPromise(program) // => "invoice.rejected"
 * ```
 *
 * @throws {WebhookVerificationError} `bad_secret`.
 * @category constructors
 * @since 0.1.0
 */
export const createVerifier = (options: VerifierOptions): Verifier => {
  const { now = Date.now } = options
  let time = 0
  const verifier = Root.createVerifier({ ...options, now: () => time })

  // `evaluate` reads the time synchronously, so one variable is enough for concurrent fibers.
  const operation =
    (
      evaluate: (body: WebhookBody, headers: WebhookHeaders) => VerificationEffect<VerifiedWebhook>
    ): Verifier["verify"] =>
    (body, headers) =>
      Effect.flatMap(typeof now === "function" ? Effect.sync(now) : now, (millis) => {
        time = millis
        return evaluate(body, headers)
      })

  const verifySync = operation((body, headers) => trySync(() => verifier.verifySync(body, headers)))
  const verify = nodeCrypto() ? verifySync : operation((body, headers) => tryPromise(verifier.verify(body, headers)))
  return {
    verify,
    verifyRequest: (request) =>
      Effect.flatMap(
        Effect.promise(async () => (request.bodyUsed ? undefined! : request.arrayBuffer())),
        (body) => verify(body, request.headers)
      ),
    verifySync
  }
}

/**
 * Signs a body and succeeds with the value of `Gov-Signature`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sign = (options: SignOptions): Effect.Effect<string, WebhookVerificationError> =>
  Effect.suspend(() => tryPromise(Signer.sign(options)))

/**
 * Signs a body synchronously. Dies if the runtime has no `node:crypto`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const signSync = (options: SignOptions): Effect.Effect<string, WebhookVerificationError> =>
  Effect.suspend(() => trySync(() => Signer.signSync(options)))

/**
 * Signs a body and succeeds with the three headers of the webhook.
 *
 * @category constructors
 * @since 0.1.0
 */
export const signedHeaders = (options: SignedHeadersOptions): Effect.Effect<SignedHeaders, WebhookVerificationError> =>
  Effect.suspend(() => tryPromise(Signer.signedHeaders(options)))

type VerificationEffect<A> = Effect.Effect<A, WebhookVerificationError>

const failOrDie = (error: unknown): VerificationEffect<never> =>
  error instanceof WebhookVerificationError ? Effect.fail(error) : Effect.die(error)

const trySync = <A>(evaluate: () => A): VerificationEffect<A> => {
  try {
    return Effect.succeed(evaluate())
  } catch (error) {
    return failOrDie(error)
  }
}

const tryPromise = <A>(promise: Promise<A>): VerificationEffect<A> => {
  // The handlers are attached synchronously, so an interrupted fiber leaves no unhandled rejection.
  const settled = promise.then(Effect.succeed, failOrDie)
  return Effect.flatten(Effect.promise(() => settled))
}
