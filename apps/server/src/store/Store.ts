/**
 * Everything that is kept for accounts and organizations.
 *
 * @since 0.1.0
 */
import { Layer } from "effect"
import * as Accounts from "./Accounts.ts"
import * as ApiKeys from "./ApiKeys.ts"
import * as Deliveries from "./Deliveries.ts"
import * as Invoices from "./Invoices.ts"
import * as Logins from "./Logins.ts"
import * as Organizations from "./Organizations.ts"
import * as WebhookEndpoints from "./WebhookEndpoints.ts"

/**
 * Layer that provides every store from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.mergeAll(
  Accounts.layer,
  ApiKeys.layer,
  Deliveries.layer,
  Invoices.layer,
  Logins.layer,
  Organizations.layer,
  WebhookEndpoints.layer
)
