/** The cookie of the console, which holds the refresh token where no script can read it. */

/** The value of the cookie. */
export interface SessionCookie {
  /** Whether the browser keeps it when it closes. */
  readonly remember: boolean
  /** Names the session, so that a refresh is limited before the database is asked. Only the token proves it. */
  readonly sessionId: string
  readonly refreshToken: string
}

// The prefix keeps hosts of the same domain from setting the cookie (RFC 6265bis §4.1.3).
const name = "__Host-govoice"
const attributes = "Path=/; HttpOnly; Secure; SameSite=Strict"
const maxAge = 30 * 86_400

const value = /^([ps])\.([0-9a-f-]{36})\.([\w-]{43})$/

/** Reads the cookie from the header `Cookie`. Several cookies of the name are none. */
export const read = (header: string | undefined): SessionCookie | undefined => {
  const [given, ...others] = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
  const match = value.exec(given?.slice(name.length + 1) ?? "")
  if (match === null || others.length > 0) return undefined
  return { remember: match[1] === "p", sessionId: match[2]!, refreshToken: match[3]! }
}

/** Returns the header `Set-Cookie` that stores the cookie: for 30 days, or until the browser closes. */
export const set = ({ refreshToken, remember, sessionId }: SessionCookie): string =>
  `${name}=${remember ? "p" : "s"}.${sessionId}.${refreshToken}; ${attributes}${remember ? `; Max-Age=${maxAge}` : ""}`

/** The header `Set-Cookie` that removes the cookie. */
export const clear = `${name}=; ${attributes}; Max-Age=0`
