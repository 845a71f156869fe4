/**
 * The same names as the root entry, as Effects. The types are those of the root entry.
 *
 * @module
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

/** What a verifier needs to know. As in the root entry, and `now` may be an Effect. */
export type VerifierOptions = DistributiveOmit<Root.VerifierOptions, "now"> & {
  /**
   * The clock, in milliseconds since the epoch. Pass `Clock.currentTimeMillis` to have `TestClock` move it; it is not
   * the default because the `Clock` module would be a fifth of the whole bundle.
   *
   * @default Date.now
   */
  readonly now?: (() => number) | Effect.Effect<number> | undefined
}

type DistributiveOmit<A, K extends PropertyKey> = A extends unknown ? Omit<A, K> : never

/** A verifier whose operations are Effects. They fail with what the root entry's throw. */
export interface Verifier {
  readonly verify: (
    body: WebhookBody,
    headers: WebhookHeaders
  ) => Effect.Effect<VerifiedWebhook, WebhookVerificationError>
  /** A request whose body breaks off is a defect. */
  readonly verifyRequest: (request: WebhookRequest) => Effect.Effect<VerifiedWebhook, WebhookVerificationError>
  /** Where the runtime has no `node:crypto`, a defect that names `verify`. */
  readonly verifySync: Verifier["verify"]
}

/**
 * As in the root entry, with operations that are Effects.
 *
 * **Details**
 *
 * Where the runtime has `node:crypto`, `verify` finishes at once too, so that `Effect.runSync` runs it.
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
 */
export const createVerifier = (options: VerifierOptions): Verifier => {
  const { now = Date.now } = options
  let time = 0
  const verifier = Root.createVerifier({ ...options, now: () => time })

  // `evaluate` asks for the time before anything else can run, so that one variable is enough.
  const operation =
    (evaluate: (body: WebhookBody, headers: WebhookHeaders) => Attempt<VerifiedWebhook>): Verifier["verify"] =>
    (body, headers) =>
      Effect.flatMap(typeof now === "function" ? Effect.sync(now) : now, (millis) => {
        time = millis
        return evaluate(body, headers)
      })

  const verifySync = operation((body, headers) => attempt(() => verifier.verifySync(body, headers)))
  const verify = nodeCrypto()
    ? verifySync
    : operation((body, headers) => attemptPromise(verifier.verify(body, headers)))
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

/** The value of `Gov-Signature` for a body. */
export const sign = (options: SignOptions): Effect.Effect<string, WebhookVerificationError> =>
  Effect.suspend(() => attemptPromise(Signer.sign(options)))

/** As {@link sign}, at once. Where the runtime has no `node:crypto`, a defect that names `sign`. */
export const signSync = (options: SignOptions): Effect.Effect<string, WebhookVerificationError> =>
  Effect.suspend(() => attempt(() => Signer.signSync(options)))

/** The three headers that a receiver verifies a webhook by. */
export const signedHeaders = (options: SignedHeadersOptions): Effect.Effect<SignedHeaders, WebhookVerificationError> =>
  Effect.suspend(() => attemptPromise(Signer.signedHeaders(options)))

type Attempt<A> = Effect.Effect<A, WebhookVerificationError>

const refuse = (error: unknown): Attempt<never> =>
  error instanceof WebhookVerificationError ? Effect.fail(error) : Effect.die(error)

const attempt = <A>(evaluate: () => A): Attempt<A> => {
  try {
    return Effect.succeed(evaluate())
  } catch (error) {
    return refuse(error)
  }
}

const attemptPromise = <A>(promise: Promise<A>): Attempt<A> => {
  // Settled at once, so that a fiber that is interrupted here leaves no rejection behind.
  const settled = promise.then(Effect.succeed, refuse)
  return Effect.flatten(Effect.promise(() => settled))
}
