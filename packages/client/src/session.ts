/**
 * The way to the control plane, without the operations: a login that keeps itself alive.
 *
 * @module
 */
import type { CallOptions, ConnectionOptions } from "./connection.ts"
import { isApiError } from "./error.ts"
import { json, nothing } from "./internal/decode.ts"
import { tokenPair } from "./internal/kinds.ts"
import { wire } from "./internal/paths.ts"
import { createTransport, type Send } from "./internal/transport.ts"
import type { Credentials } from "./records.ts"

/** A way to the control plane. What it has is for the functions of this package. */
export interface Session {
  readonly "~send": Send
  readonly "~api"?: "control-plane"
  readonly "~login": (credentials: Credentials, options?: CallOptions) => Promise<void>
  readonly "~logout": (options?: CallOptions) => Promise<void>
}

interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

/**
 * A way to the control plane, for functions such as `login` and `createOrganization`.
 *
 * **When to use**
 *
 * Use in place of `createControlPlane` where the size of a bundle counts: the functions that are not used are not in it.
 *
 * **Details**
 *
 * The tokens stay inside. When the access token has run out, the next call exchanges the refresh token for a new pair:
 * once, however many calls are waiting.
 *
 * @throws {TypeError} when `baseUrl` cannot be one.
 */
export const createSession = (options: ConnectionOptions): Session => {
  let tokens: Tokens | undefined
  let refreshing: Promise<string | undefined> | undefined

  const auth = createTransport(options, () => undefined)
  const exchange = (action: string, body: object, options?: CallOptions) =>
    auth(
      {
        method: "POST",
        path: `/control-plane/auth/${action}`,
        body,
        isRepeatable: true,
        read: json<Tokens>(tokenPair)
      },
      options
    )

  const refresh = async (spent: Tokens) => {
    let renewed: Tokens | undefined
    try {
      renewed = await exchange("refresh", wire({ refreshToken: spent.refreshToken }))
    } catch (error) {
      if (!isApiError(error, "invalid_refresh_token")) throw error
      if (tokens === spent) tokens = renewed
      throw error
    } finally {
      refreshing = undefined
    }
    // Unless somebody has logged in or out in the meantime.
    if (tokens === spent) tokens = renewed
    return tokens?.accessToken
  }

  return {
    "~send": createTransport(options, (refused) =>
      tokens && tokens.accessToken === refused ? (refreshing ??= refresh(tokens)) : tokens?.accessToken
    ),
    "~login": async (credentials, options) => {
      tokens = await exchange("login", credentials, options)
    },
    "~logout": async (options) => {
      await refreshing?.catch(() => {})
      if (!tokens) return
      await auth(
        {
          method: "POST",
          path: "/control-plane/auth/logout",
          body: wire({ refreshToken: tokens.refreshToken }),
          isRepeatable: true,
          read: nothing
        },
        options
      )
      tokens = undefined
    }
  }
}
