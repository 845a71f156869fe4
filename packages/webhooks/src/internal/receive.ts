/**
 * The common part of the adapters: from a request to the status of the answer.
 *
 * @module
 */
import type { WebhookBody } from "../body.ts"
import { WebhookVerificationError, type WebhookVerificationErrorCode } from "../error.ts"
import type { WebhookHeaders } from "../headers.ts"
import { checkOptions } from "./checkOptions.ts"
import { createVerifier, type VerifiedWebhook, type VerifierOptions } from "../verifier.ts"

declare const console: {
  readonly error: (error: unknown) => void
  readonly warn: (line: string) => void
}

/**
 * The options of a handler.
 *
 * @category models
 * @since 0.1.0
 */
export type HandlerOptions<Request = unknown> = VerifierOptions & {
  /**
   * The maximum size of a body, in bytes. A larger one is answered with 413 and not read to the end.
   *
   * @default 1048576
   */
  readonly maxBodyBytes?: number | undefined

  /**
   * Returns whether the event with this id was handled before. If so, the request is answered with 204 and `onWebhook` is
   * not called. Called after verification. If it fails, the request is answered with 500 and the service retries.
   *
   * Only look up the id here. Store it in the transaction that handles the event: otherwise an event whose handling fails
   * is lost.
   *
   * @default never
   */
  readonly seen?: ((id: string) => boolean | Promise<boolean>) | undefined

  /**
   * Called with each error that is answered with 500: a failure of `onWebhook` or `seen`, or a body that was parsed
   * before.
   *
   * @default console.error
   */
  readonly onError?: ((error: unknown) => unknown) | undefined

  /**
   * Called with each error that is answered with 400: a request that does not verify.
   *
   * The default writes one line with the code and the remedy to `console.warn`, at most once a minute for each code. It
   * contains no secret, no signature and no part of the body.
   */
  readonly onRejected?: ((error: WebhookVerificationError, request: Request) => unknown) | undefined
}

/**
 * Handles a verified webhook. The answer 204 is sent after it has finished, so let it finish after the event is stored.
 *
 * @category models
 * @since 0.1.0
 */
export type OnWebhook<Request> = (webhook: VerifiedWebhook, request: Request) => unknown

/** Reads a body of at most `maxBytes`. Resolves with `undefined` for a larger one. */
export type ReadBody<Request> = (request: Request, maxBytes: number) => Promise<WebhookBody | undefined>

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly text?: string | undefined
}

// The rest of the body is not read, so the connection cannot be reused.
const headers = { connection: "close", allow: "POST" }

/** Returns a function that warns of each code at most once a minute. */
const makeWarn = () => {
  const lastWarned: { [code in WebhookVerificationErrorCode]?: number } = {}
  return ({ code, message }: WebhookVerificationError): void => {
    const now = Date.now()
    if (now - (lastWarned[code] ?? 0) < 60_000) return
    lastWarned[code] = now
    console.warn(`Webhook rejected: ${message}`)
  }
}

/** The default of `onError`. */
export const logError = (error: unknown): void => console.error(error)

/** Calls a callback of the application, whose failure must not change the answer. */
export const call = async <Args extends ReadonlyArray<unknown>>(
  callback: (...args: Args) => unknown,
  ...args: Args
) => {
  try {
    await callback(...args)
  } catch {
    // The failed callback is the only place to report to.
  }
}

/** Returns a function that answers requests. It never rejects. @throws {TypeError} if an option is unknown or invalid. */
export const makeReceive = <Request extends { readonly method?: string | undefined; readonly headers: WebhookHeaders }>(
  options: HandlerOptions<Request>,
  onWebhook: OnWebhook<Request>,
  read: ReadBody<Request>
) => {
  checkOptions(options, "secret secrets toleranceSeconds now maxBodyBytes seen onError onRejected")
  if (typeof onWebhook !== "function")
    throw new TypeError("onWebhook must be a function: createHandler(options, onWebhook).")
  // The options may be missing in JavaScript, which `createVerifier` refuses.
  const { verify } = createVerifier(options)
  const { maxBodyBytes = 2 ** 20, onError = logError, onRejected = makeWarn() } = options

  return async (request: Request): Promise<Answer> => {
    if (request.method !== "POST") return { status: 405, headers }
    let webhook: VerifiedWebhook | undefined
    try {
      const body = await read(request, maxBodyBytes)
      if (body === undefined) return { status: 413, headers }
      webhook = await verify(body, request.headers)
      if (!(await options.seen?.(webhook.id))) await onWebhook(webhook, request)
      return { status: 204 }
    } catch (error) {
      const rejection = !webhook && error instanceof WebhookVerificationError ? error : undefined
      const { status = 500, message: text } = rejection ?? {}
      void (rejection && status < 500 ? call(onRejected, rejection, request) : call(onError, error))
      return { status, text }
    }
  }
}
