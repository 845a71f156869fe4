/**
 * The three routes of the session. They are the only requests that carry the cookie of the refresh token.
 */
import { type Problem, SessionError } from "./problem.ts"

interface Granted {
  readonly accessToken: string
  readonly expiresInSeconds: number
}

declare global {
  /** The first refresh, which `theme.ts` began. Undefined after it was taken, or if it got no answer. */
  var govoiceRefresh: Promise<Response | undefined> | undefined
}

const path = "/console/session"

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

const request = (method: "POST" | "DELETE", below: string, body?: object): Promise<Response> =>
  fetch(`${path}${below}`, {
    method,
    credentials: "same-origin",
    redirect: "error",
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
  }).catch(() => {
    throw new SessionError({ code: "connection_failed", message: "The server cannot be reached.", retryable: true })
  })

const accepted = async (response: Response): Promise<Response> => {
  if (!response.ok) throw new SessionError(await problemOfResponse(response))
  return response
}

const send = async (method: "POST" | "DELETE", below: string, body?: object): Promise<Response> =>
  accepted(await request(method, below, body))

/** Returns the answer to the refresh that began before the page was loaded, once. */
const takeFirstRefresh = (): Promise<Response | undefined> | undefined => {
  const first = globalThis.govoiceRefresh
  globalThis.govoiceRefresh = undefined
  return first
}

const granted = async (response: Response): Promise<Granted> => {
  const { access_token, expires_in } = (await response.json()) as {
    readonly access_token: string
    readonly expires_in: number
  }
  return { accessToken: access_token, expiresInSeconds: expires_in }
}

/** Logs in. The response sets the cookie. */
export const createSession = async (input: {
  readonly email: string
  readonly password: string
  readonly remember: boolean
}): Promise<Granted> => granted(await send("POST", "", input))

/** Exchanges the cookie for an access token and the next cookie. */
export const refreshSession = async (): Promise<Granted> =>
  granted(await accepted((await takeFirstRefresh()) ?? (await request("POST", "/refresh", {}))))

/** Ends the login. */
export const deleteSession = async (): Promise<void> => {
  await send("DELETE", "")
}
