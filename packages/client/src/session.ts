/**
 * The way to the control plane, without the operations: a login that keeps itself alive.
 *
 * @module
 */
import type { CallOptions, ConnectionOptions } from "./connection.ts"
import { tokenPair } from "./internal/kinds.ts"
import { withBody } from "./internal/operation.ts"
import { createTransport, type Send } from "./internal/transport.ts"
import type { Credentials } from "./records.ts"

/** A way to the control plane. What it has is for the functions of this package. */
export interface ControlPlaneConnection {
  readonly "~send": Send
  readonly "~api"?: "control-plane"
}

/** A way to the control plane that logs in. */
export interface Session extends ControlPlaneConnection {
  /**
   * Logs in. The tokens stay inside, and are renewed when they have to be.
   *
   * @throws {AnyGovoiceError} an `ApiError` `invalid_credentials` when the email or the password is wrong.
   */
  readonly login: (credentials: Credentials, options?: CallOptions) => Promise<void>

  /** Logs out: the service revokes all that came from the login. Does nothing when nobody is logged in. */
  readonly logout: (options?: CallOptions) => Promise<void>
}

interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

type Spent = Pick<Tokens, "refreshToken">

type Exchange<I, O> = (connection: ControlPlaneConnection, input: I, options?: CallOptions) => Promise<O>

const enter: Exchange<Credentials, Tokens> = /* @__PURE__ */ withBody("POST", "auth/login", tokenPair)
const exchange: Exchange<Spent, Tokens> = /* @__PURE__ */ withBody("POST", "auth/refresh", tokenPair)
const leave: Exchange<Spent, void> = /* @__PURE__ */ withBody("POST", "auth/logout")

/**
 * A way to the control plane, for functions such as `createOrganization`.
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
  let refreshing: Promise<void> | undefined

  const send = createTransport(
    options,
    "/control-plane/",
    () => tokens?.accessToken,
    async ({ code }, refused) => {
      const old = code === "missing_access_token" && tokens
      if (old && old.accessToken === refused) {
        await (refreshing ??= refresh(old).finally(() => {
          refreshing = undefined
        }))
      }
      return old
    }
  )
  const connection = { "~send": send }

  const refresh = async (spent: Tokens) => {
    const renewed = await exchange(connection, { refreshToken: spent.refreshToken })
    // Unless somebody has logged in or out in the meantime.
    if (tokens === spent) tokens = renewed
  }

  return {
    ...connection,
    login: async (credentials, options) => {
      tokens = await enter(connection, credentials, options)
    },
    logout: async (options) => {
      if (tokens) await leave(connection, { refreshToken: tokens.refreshToken }, options)
      tokens = undefined
    }
  }
}
