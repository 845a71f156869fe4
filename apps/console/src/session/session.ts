/**
 * The login of this page. The access token is in memory alone; the refresh token is in a cookie that no script can read.
 */
import { useSyncExternalStore } from "react"
import { problemOf } from "./problem.ts"
import { createSession, deleteSession, type Granted, refreshSession, takeFirstRefresh } from "./routes.ts"
import { exclusively, onTabMessage, tellTabs } from "./tabs.ts"

/** `unknown` until the first refresh has ended. `unreachable` if it failed for a while: no answer, or too many refreshes. */
export type SessionStatus = "unknown" | "loggedIn" | "loggedOut" | "unreachable"

interface Token {
  readonly accessToken: string
  readonly expiresAt: number
}

let token: Token | undefined
let status: SessionStatus = "unknown"
let refreshError: unknown
const listeners = new Set<() => void>()
const endListeners = new Set<() => void>()

const setState = (next: SessionStatus, nextToken: Token | undefined): void => {
  token = nextToken
  const ended = status === "loggedIn" && next === "loggedOut"
  status = next
  if (ended) for (const listener of endListeners) listener()
  for (const listener of listeners) listener()
}

onTabMessage((message) => {
  if (message.type === "loggedOut") setState("loggedOut", undefined)
  else setState("loggedIn", message)
})

/** Returns the access token, if there is a login. */
export const accessToken = (): string | undefined => token?.accessToken

/** Calls the listener when a login ends, also in another tab. */
export const onLogout = (listener: () => void): void => {
  endListeners.add(listener)
}

const grant = ({ access_token: accessToken, expires_in }: Granted) => {
  const next = { accessToken, expiresAt: Date.now() + expires_in * 1000 }
  setState("loggedIn", next)
  tellTabs({ type: "renewed", ...next })
}

const isFresh = (candidate: Token | undefined): boolean =>
  candidate !== undefined && candidate.expiresAt - Date.now() > 30_000

let retry: ReturnType<typeof setTimeout> | undefined

const renewLater = (ms: number): void => {
  clearTimeout(retry)
  retry = setTimeout(() => {
    if (status === "unreachable") void renew().catch(() => {})
  }, ms)
}

/**
 * Renews the access token. One tab at a time does it; a tab that waited takes over the token of the one before. The first call
 * takes the result of the refresh that began before this script was loaded. Where the page has no token and the server says when
 * to try again, it does.
 *
 * Returns whether there is a new token.
 */
export const renew = async (): Promise<boolean> => {
  const before = token
  return exclusively(async () => {
    const first = takeFirstRefresh()
    if (first !== undefined && "accessToken" in first && isFresh(first)) {
      setState("loggedIn", first)
      return true
    }
    // The message of the tab that renewed before may arrive after its lock was released.
    await new Promise((resolve) => setTimeout(resolve, 0))
    if (token !== before && isFresh(token)) return true
    try {
      grant(await refreshSession(first instanceof Response ? first : undefined))
      return true
    } catch (error) {
      if (token !== before && isFresh(token)) return true
      const { code, retryAfterMs } = problemOf(error)
      if (code === "invalid_refresh_token") setState("loggedOut", undefined)
      else if (status === "unknown" || status === "unreachable") {
        refreshError = error
        setState("unreachable", undefined)
        if (retryAfterMs !== undefined) renewLater(retryAfterMs)
      } else throw error
      return false
    }
  })
}

/** Logs in. `remember` keeps the login after the browser was closed. */
export const login = async (input: {
  readonly email: string
  readonly password: string
  readonly remember: boolean
}): Promise<void> => exclusively(async () => grant(await createSession(input)))

/** Ends the login in this browser. */
export const logout = async (): Promise<void> => {
  await exclusively(deleteSession)
  tellTabs({ type: "loggedOut" })
  setState("loggedOut", undefined)
}

/** Ends the login of this page after the server ended it. */
export const clearSession = (): void => {
  tellTabs({ type: "loggedOut" })
  setState("loggedOut", undefined)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns the state of the login and renders again when it changes. */
export const useSession = (): SessionStatus => useSyncExternalStore(subscribe, () => status)

/** Returns the error of the last refresh, if the session is `unreachable`, and renders again when it changes. */
export const useRefreshError = (): unknown => useSyncExternalStore(subscribe, () => refreshError)
