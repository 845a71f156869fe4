/**
 * The connection to the control plane, with login and token refresh. The operations are functions that take it.
 *
 * @module
 * @since 0.1.0
 */
import { checkOptions, connectionOptions } from "./internal/checkOptions.ts"
import { withBody } from "./internal/operation.ts"
import { tokenPair } from "./internal/schemas.ts"
import { createTransport, type Send } from "./internal/transport.ts"
import type { CallOptions, ConnectionOptions } from "./options.ts"
import type { Credentials } from "./records.ts"

/**
 * A connection to the control plane. Its members are private to this package.
 *
 * @category models
 * @since 0.1.0
 */
export interface ControlPlaneConnection {
  readonly "~send": Send
  readonly "~api"?: "control-plane"
}

/**
 * A connection to the control plane with a login.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session extends ControlPlaneConnection {
  /**
   * Logs in. The session stores the tokens and refreshes the access token when it has expired.
   *
   * @throws {AnyGovoiceError} an `ApiError` with code `invalid_credentials` if the email or the password is wrong.
   */
  readonly login: (credentials: Credentials, options?: CallOptions) => Promise<void>

  /** Logs out: the service revokes all tokens of the login. Does nothing without a login. */
  readonly logout: (options?: CallOptions) => Promise<void>
}

interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

type RefreshToken = Pick<Tokens, "refreshToken">

type AuthOperation<I, O> = (connection: ControlPlaneConnection, input: I, options?: CallOptions) => Promise<O>

const login: AuthOperation<Credentials, Tokens> = /* @__PURE__ */ withBody("POST", "auth/login", tokenPair)
const refresh: AuthOperation<RefreshToken, Tokens> = /* @__PURE__ */ withBody("POST", "auth/refresh", tokenPair)
const logout: AuthOperation<RefreshToken, void> = /* @__PURE__ */ withBody("POST", "auth/logout")

/**
 * Creates a connection to the control plane, for functions such as `createOrganization`.
 *
 * **When to use**
 *
 * Use in place of `createControlPlane` if bundle size matters: functions that are not used are not bundled.
 *
 * **Details**
 *
 * When the access token has expired, the next call exchanges the refresh token for new tokens. Concurrent calls share one
 * exchange.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @category constructors
 * @since 0.1.0
 */
export const createSession = (options: ConnectionOptions): Session => {
  let tokens: Tokens | undefined
  let refreshing: Promise<void> | undefined

  const send = createTransport(
    checkOptions(options, connectionOptions),
    "/control-plane/",
    () => tokens?.accessToken,
    async ({ code }, rejected) => {
      const old = code === "missing_access_token" && tokens
      if (old && old.accessToken === rejected) {
        await (refreshing ??= renew(old).finally(() => {
          refreshing = undefined
        }))
      }
      return old
    }
  )
  const connection = { "~send": send }

  const renew = async (old: Tokens) => {
    const renewed = await refresh(connection, { refreshToken: old.refreshToken })
    // A login or logout in the meantime takes precedence.
    if (tokens === old) tokens = renewed
  }

  return {
    ...connection,
    login: async (credentials, options) => {
      tokens = await login(connection, credentials, options)
    },
    logout: async (options) => {
      if (tokens) await logout(connection, { refreshToken: tokens.refreshToken }, options)
      tokens = undefined
    }
  }
}

/**
 * The options of `createTokenSession`.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenSessionOptions extends ConnectionOptions {
  /** Returns the access token to send, if there is one. */
  readonly accessToken: () => string | undefined
  /** Obtains a new access token after one was rejected. Resolves with whether there is a new one. */
  readonly renew: () => Promise<boolean>
}

/**
 * Creates a connection to the control plane for a caller that holds the access token itself, such as a page whose refresh token
 * is in a cookie.
 *
 * **Details**
 *
 * A call whose access token is rejected calls `renew` and is sent once more if that resolves with `true`. Concurrent calls
 * each call `renew`: share one exchange between them.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @category constructors
 * @since 0.1.0
 */
export const createTokenSession = (options: TokenSessionOptions): ControlPlaneConnection => {
  const { accessToken, renew } = checkOptions(options, `accessToken renew ${connectionOptions}`)
  return {
    "~send": createTransport(
      options,
      "/control-plane/",
      accessToken,
      async ({ code }, rejected) => code === "missing_access_token" && (accessToken() !== rejected || renew())
    )
  }
}
