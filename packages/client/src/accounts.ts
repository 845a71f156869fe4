/**
 * The control plane: accounts.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { account } from "./internal/kinds.ts"
import { withBody, withoutBody } from "./internal/operation.ts"
import type { Account, NewAccount } from "./records.ts"
import type { ControlPlaneConnection } from "./session.ts"

/**
 * Makes an account. It does not log in.
 *
 * @throws {AnyGovoiceError} an `ApiError` such as `email_taken` or `signup_disabled`.
 */
export const createAccount: (
  session: ControlPlaneConnection,
  input: NewAccount,
  options?: CallOptions
) => Promise<Account> = /* @__PURE__ */ withBody("POST", "accounts", account)

/** Shows the account that is logged in. */
export const getAccount: (session: ControlPlaneConnection, options?: CallOptions) => Promise<Account> =
  /* @__PURE__ */ withoutBody("account", account)
