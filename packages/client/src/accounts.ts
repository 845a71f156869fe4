/**
 * The control plane operations of accounts.
 *
 * @module
 * @since 0.1.0
 */
import { withBody, withoutBody } from "./internal/operation.ts"
import { account } from "./internal/schemas.ts"
import type { CallOptions } from "./options.ts"
import type { Account, NewAccount, PasswordChange } from "./records.ts"
import type { ControlPlaneConnection } from "./session.ts"

/**
 * Creates an account. Does not log in.
 *
 * @throws {AnyGovoiceError} such as an `ApiError` with code `email_taken` or `signup_disabled`.
 * @category control plane
 * @since 0.1.0
 */
export const createAccount: (
  session: ControlPlaneConnection,
  input: NewAccount,
  options?: CallOptions
) => Promise<Account> = /* @__PURE__ */ withBody("POST", "accounts", account)

/**
 * Returns the account of the login.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getAccount: (session: ControlPlaneConnection, options?: CallOptions) => Promise<Account> =
  /* @__PURE__ */ withoutBody("account", account)

/**
 * Changes the password of the account. All other logins of the account end.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `invalid_credentials` if the current password is wrong.
 * @category control plane
 * @since 0.1.0
 */
export const changePassword: (
  session: ControlPlaneConnection,
  change: PasswordChange,
  options?: CallOptions
) => Promise<void> = /* @__PURE__ */ withBody("PUT", "account/password")

/**
 * Logs out everywhere: all logins of the account end, also this one.
 *
 * @category control plane
 * @since 0.1.0
 */
export const logoutAll: (session: ControlPlaneConnection, options?: CallOptions) => Promise<void> =
  /* @__PURE__ */ withoutBody("auth/logout-all", "", "POST")
