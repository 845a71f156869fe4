/**
 * The control plane: signing up, logging in and out.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { account } from "./internal/kinds.ts"
import { operation } from "./internal/operation.ts"
import type { Account, Credentials, NewAccount } from "./records.ts"
import type { Session } from "./session.ts"

/**
 * Makes an account. It does not log in.
 *
 * @throws {AnyGovoiceError} an `ApiError` such as `email_taken` or `signup_disabled`.
 */
export const createAccount = (session: Session, input: NewAccount, options?: CallOptions): Promise<Account> =>
  operation(session, "POST", "/accounts", options, account, input)

/** Shows the account that is logged in. */
export const getAccount = (session: Session, options?: CallOptions): Promise<Account> =>
  operation(session, "GET", "/account", options, account)

/**
 * Logs in. The tokens stay inside of the session, which renews them by itself.
 *
 * @throws {AnyGovoiceError} an `ApiError` `invalid_credentials` when the email or the password is wrong.
 */
export const login = (session: Session, credentials: Credentials, options?: CallOptions): Promise<void> =>
  session["~login"](credentials, options)

/** Logs out: the service revokes all that came from the login. Does nothing when nobody is logged in. */
export const logout = (session: Session, options?: CallOptions): Promise<void> => session["~logout"](options)
