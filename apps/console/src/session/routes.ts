/**
 * The routes of the session and of a lost password. They are the only requests that carry the cookie of the refresh token.
 */
import { type Problem, SessionError } from "./problem.ts"
import type { TabMessage } from "./tabs.ts"

/** The body of an answer with an access token. */
export interface Granted {
  readonly access_token: string
  readonly expires_in: number
}

/** The result of the first refresh: the newest message of this tab or another, or the answer that refused it, if there is one. */
export type FirstRefresh = TabMessage | Response | undefined

declare global {
  /** Returns the result of the refresh that `theme.ts` began, and stops to replace it. Undefined after it was called. */
  var govoiceRefresh: (() => FirstRefresh) | undefined
}

const sessionPath = "/console/session"

interface Envelope {
  readonly error?: {
    readonly code?: string
    readonly message?: string
    readonly param?: string | null
    readonly request_id?: string
    readonly retryable?: boolean
  }
}

const problemOfResponse = async (response: Response): Promise<Problem> => {
  const { error } = (await response.json().catch(() => ({}))) as Envelope
  const retryAfter = Number(response.headers.get("retry-after"))
  return {
    code: error?.code ?? "unexpected_response",
    message: error?.message ?? `The server answered with HTTP ${response.status}.`,
    param: error?.param ?? undefined,
    requestId: error?.request_id ?? response.headers.get("request-id") ?? undefined,
    retryable: error?.retryable ?? response.status >= 500,
    retryAfterMs: retryAfter > 0 ? retryAfter * 1000 : undefined,
    status: response.status
  }
}

const requestAt = (method: "POST" | "DELETE", path: string, body?: object): Promise<Response> =>
  fetch(path, {
    method,
    credentials: "same-origin",
    redirect: "error",
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
  }).catch(() => {
    throw new SessionError({ code: "connection_failed", message: "The server cannot be reached.", retryable: true })
  })

const request = (method: "POST" | "DELETE", below: string, body?: object): Promise<Response> =>
  requestAt(method, `${sessionPath}${below}`, body)

const accepted = async (response: Response): Promise<Response> => {
  if (!response.ok) throw new SessionError(await problemOfResponse(response))
  return response
}

const send = async (method: "POST" | "DELETE", below: string, body?: object): Promise<Response> =>
  accepted(await request(method, below, body))

/** Returns the result of the refresh that `theme.ts` began, once. Called under the lock, so that it has ended. */
export const takeFirstRefresh = (): FirstRefresh => {
  const take = globalThis.govoiceRefresh
  globalThis.govoiceRefresh = undefined
  return take?.()
}

const granted = async (response: Response): Promise<Granted> => (await response.json()) as Granted

// Mails to the owner are in the language of the page.
const language = () => ({ language: document.documentElement.lang })

/** Logs in. The response sets the cookie. */
export const createSession = async (input: {
  readonly email: string
  readonly password: string
  readonly remember: boolean
}): Promise<Granted> => granted(await send("POST", "", { ...input, ...language() }))

/** Exchanges the cookie for an access token and the next cookie. */
export const refreshSession = async (first?: Response): Promise<Granted> =>
  granted(await accepted(first ?? (await request("POST", "/refresh", language()))))

/** Ends the login. */
export const deleteSession = async (): Promise<void> => {
  await send("DELETE", "")
}

/** Asks for a mail with a link that resets the password. The answer is the same for an unknown email. */
export const requestReset = async (input: {
  readonly email: string
  readonly language: "en" | "pl"
}): Promise<void> => {
  await accepted(await requestAt("POST", "/console/password-reset", input))
}

/** Replaces the password by the token of a link, and ends all sessions. */
export const resetPassword = async (input: { readonly token: string; readonly password: string }): Promise<void> => {
  await accepted(await requestAt("POST", "/console/password-reset/confirm", input))
}
