/**
 * What the adapters have in common: from a request to the status that answers it. It knows no framework.
 *
 * @module
 */
import type { WebhookBody } from "../body.ts"
import { WebhookVerificationError } from "../error.ts"
import type { WebhookHeaders } from "../headers.ts"
import { createVerifier, type VerifiedWebhook, type VerifierOptions } from "../verifier.ts"

declare const console: { readonly error: (error: unknown) => void }

/** What a handler needs to know. */
export type HandlerOptions = VerifierOptions & {
  /**
   * The largest body that is read, in bytes. A larger one is answered 413, and no more of it is kept.
   *
   * @default 1048576
   */
  readonly maxBodyBytes?: number | undefined

  /**
   * Whether the event with this id was handled before; then it is answered 204 and not handled again. Asked once a
   * webhook is verified. Where it fails, the answer is 500, and the service tries again.
   *
   * Only look here: note the id where the work is done, or an event is lost when its handling fails.
   *
   * @default never
   */
  readonly seen?: ((id: string) => boolean | Promise<boolean>) | undefined

  /**
   * Called with what is answered 500: a failure of `onWebhook` or `seen`, or a body that was parsed before it got here.
   *
   * @default console.error
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Handles a verified webhook. The answer waits for it, so that 204 means that the event is in good hands. */
export type OnWebhook<Request> = (webhook: VerifiedWebhook, request: Request) => unknown

/** Reads a body of at most so many bytes; `undefined` stands for a larger one. */
export type ReadBody<Request> = (request: Request, maxBytes: number) => Promise<WebhookBody | undefined>

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly text?: string | undefined
}

// What is left of the body is not wanted, so the connection cannot be used again.
const headers = { connection: "close", allow: "POST" }

/** Answers requests. Never rejects. */
export const makeReceive = <Request extends { readonly method?: string | undefined; readonly headers: WebhookHeaders }>(
  options: HandlerOptions,
  onWebhook: OnWebhook<Request>,
  read: ReadBody<Request>
) => {
  const { maxBodyBytes = 2 ** 20, onError = console.error } = options
  const { verify } = createVerifier(options)

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
      const { status = 500, message: text } = !webhook && error instanceof WebhookVerificationError ? error : {}
      try {
        if (status > 400) onError(error)
      } catch {
        // It has no say in the answer, and there is nobody else to tell.
      }
      return { status, text }
    }
  }
}
