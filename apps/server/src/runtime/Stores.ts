/** The stores of accounts, organizations, invoices and webhooks. */
import { Layer } from "effect"
import * as Accounts from "../accounts/Accounts.ts"
import * as ApiKeys from "../accounts/ApiKeys.ts"
import * as GatewayCredentials from "../invoices/ksef/GatewayCredentials.ts"
import * as OfflineCertificates from "../invoices/ksef/OfflineCertificates.ts"
import * as DeliveryRecords from "../deliveries/DeliveryRecords.ts"
import * as DeliveryStats from "../deliveries/DeliveryStats.ts"
import * as Invoices from "../invoices/Invoices.ts"
import * as InvoiceStats from "../invoices/InvoiceStats.ts"
import * as SubmitInvoice from "../invoices/SubmitInvoice.ts"
import * as Sessions from "../accounts/Sessions.ts"
import * as Notices from "../mail/Notices.ts"
import * as PasswordResets from "../accounts/PasswordResets.ts"
import * as Organizations from "../accounts/Organizations.ts"
import * as WebhookEndpoints from "../deliveries/WebhookEndpoints.ts"

/** Layer that provides every store from a migrated database. */
export const layer = Layer.mergeAll(
  Accounts.layer,
  ApiKeys.layer,
  DeliveryRecords.layer,
  DeliveryStats.layer,
  GatewayCredentials.layer,
  Invoices.layer,
  InvoiceStats.layer,
  Notices.layer,
  OfflineCertificates.layer,
  PasswordResets.layer.pipe(Layer.provide(Sessions.layer)),
  Sessions.layer,
  SubmitInvoice.layer,
  WebhookEndpoints.layer
).pipe(Layer.provideMerge(Organizations.layer))
