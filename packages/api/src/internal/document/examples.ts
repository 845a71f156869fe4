/**
 * The examples of the OpenAPI document, by operation. Tests check each against its schema.
 *
 * Credentials are shortened with an ellipsis, so that none looks like a leaked secret.
 */
import { Ids, type Invoice, InvoiceEvent } from "@govoice/core"
import type { Account, TokenPair } from "../../Account.ts"
import type { ApiKey, Me, NewApiKey } from "../../ApiKey.ts"
import type { GatewayCredential } from "../../GatewayCredential.ts"
import type { OfflineCertificate } from "../../OfflineCertificate.ts"
import type { Organization } from "../../Organization.ts"
import * as Problems from "../../Problems.ts"
import type { LiveStatus } from "../../LiveStatus.ts"
import type * as Statistics from "../../Statistics.ts"
import type { SubmissionRequest } from "../../Submission.ts"
import type { WebhookDelivery } from "../../WebhookDelivery.ts"
import type { NewWebhookEndpoint, RotatedWebhookEndpoint, WebhookEndpoint } from "../../WebhookEndpoint.ts"

/** The request body and the response body of an operation. A missing member means no body. */
export interface Example {
  readonly request?: unknown
  readonly response?: unknown
}

const random = new Uint8Array([38, 201, 17, 84, 160, 9, 233, 71, 142, 55])

const id = <P extends Ids.Prefix>(prefix: P, at: string): Ids.Id<P> => Ids.make(prefix, Date.parse(at), random)

const account: Account = {
  id: id("acct", "2026-11-19T14:02:11.480Z"),
  object: "account",
  email: "owner@example.com",
  created_at: "2026-11-19T14:02:11.480Z"
}

const tokens: TokenPair = {
  access_token: "eyJhbGciOi…",
  token_type: "Bearer",
  expires_in: 900,
  refresh_token: "q0Pz4uT1dJ…",
  refresh_expires_in: 2_592_000
}

const credentials = { email: "owner@example.com", password: "correct horse battery staple" }

const refreshToken = { refresh_token: tokens.refresh_token }

const organization: Organization = {
  id: id("org", "2026-11-19T14:03:40.027Z"),
  object: "organization",
  name: "Sprzedawca Testowy",
  gateway_credential: { present: false, updated_at: null },
  created_at: "2026-11-19T14:03:40.027Z"
}

const gatewayCredential: GatewayCredential = {
  object: "gateway_credential",
  present: true,
  type: "certificate",
  context: { type: "Nip", value: "5265877635" },
  environment: "test",
  expires_at: "2028-11-18T10:14:09.000Z",
  state: "accepted",
  checked_at: "2026-11-19T14:04:17.702Z",
  refusal: null,
  updated_at: "2026-11-19T14:04:16.380Z"
}

const offlineCertificate: OfflineCertificate = {
  object: "offline_certificate",
  present: true,
  environment: "test",
  serial_number: "01F20A5D352AE590",
  subject: "CN=Sprzedawca Testowy,C=PL",
  valid_from: "2026-11-19T10:20:31.000Z",
  valid_until: "2028-11-18T10:20:31.000Z",
  state: "valid",
  updated_at: "2026-11-19T14:04:52.116Z"
}

const apiKey: ApiKey = {
  id: id("key", "2026-11-19T14:05:02.913Z"),
  object: "api_key",
  organization_id: organization.id,
  mode: "test",
  name: "Shop",
  last4: "mQ7d",
  created_at: "2026-11-19T14:05:02.913Z",
  expires_at: null
}

const newApiKey: NewApiKey = { ...apiKey, secret: "sk_test_…mQ7d" }

const me: Me = {
  object: "api_key",
  id: apiKey.id,
  mode: "test",
  name: "Shop",
  last4: "mQ7d",
  created_at: apiKey.created_at,
  organization: { id: organization.id, object: "organization", name: organization.name },
  live_mode_available: false
}

const submission: SubmissionRequest = {
  invoice_xml:
    '<?xml version="1.0" encoding="UTF-8"?><Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/"><Naglowek><KodFormularza kodSystemowy="FA (3)" wersjaSchemy="1-0E">FA</KodFormularza><WariantFormularza>3</WariantFormularza><DataWytworzeniaFa>2026-11-20T08:59:00Z</DataWytworzeniaFa></Naglowek><Podmiot1><DaneIdentyfikacyjne><NIP>5265877635</NIP><Nazwa>Sprzedawca Testowy</Nazwa></DaneIdentyfikacyjne><Adres><KodKraju>PL</KodKraju><AdresL1>ul. Testowa 1</AdresL1></Adres></Podmiot1><Podmiot2><DaneIdentyfikacyjne><NIP>5260250274</NIP><Nazwa>Nabywca Testowy</Nazwa></DaneIdentyfikacyjne><JST>2</JST><GV>2</GV></Podmiot2><Fa><KodWaluty>PLN</KodWaluty><P_1>2026-11-20</P_1><P_2>FV/2026/11/0042</P_2><P_15>123.00</P_15><Adnotacje><P_16>2</P_16><P_17>2</P_17><P_18>2</P_18><P_18A>2</P_18A><Zwolnienie><P_19N>1</P_19N></Zwolnienie><NoweSrodkiTransportu><P_22N>1</P_22N></NoweSrodkiTransportu><P_23>2</P_23><PMarzy><P_PMarzyN>1</P_PMarzyN></PMarzy></Adnotacje><RodzajFaktury>VAT</RodzajFaktury></Fa></Faktura>',
  metadata: { order: "2026/11/0042" }
}

const verificationUrl =
  "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U"

const received: Invoice.Invoice = {
  id: id("inv", "2026-11-20T09:00:00.214Z"),
  object: "invoice",
  mode: "test",
  status: "queued",
  scenario: "accepted",
  metadata: { order: "2026/11/0042" },
  document: {
    form: "FA (3)",
    kind: "VAT",
    number: "FV/2026/11/0042",
    issue_date: "2026-11-20",
    currency: "PLN",
    total: "123.00",
    seller: { tax_id: "5265877635", name: "Sprzedawca Testowy" },
    buyer: { tax_id: "5260250274", name: "Nabywca Testowy" }
  },
  verification: { url: verificationUrl, label: "OFFLINE", certificate_url: null },
  invoicing_mode: "online",
  official_mode: null,
  send_by: null,
  corrects: null,
  warnings: [],
  official_number: null,
  rejection: null,
  failure: null,
  upo_available: false,
  attempt_count: 0,
  next_attempt_at: null,
  created_at: "2026-11-20T09:00:00.214Z",
  updated_at: "2026-11-20T09:00:00.214Z",
  submitted_at: null,
  completed_at: null
}

const submitted: Invoice.Invoice = {
  ...received,
  status: "submitted",
  attempt_count: 1,
  updated_at: "2026-11-20T09:00:01.230Z",
  submitted_at: "2026-11-20T09:00:01.230Z"
}

const accepted: Invoice.Invoice = {
  ...submitted,
  status: "accepted",
  verification: { url: verificationUrl, label: "5265877635-20261120-0A1B2C3D4E5F-43", certificate_url: null },
  official_number: "5265877635-20261120-0A1B2C3D4E5F-43",
  updated_at: "2026-11-20T09:00:02.241Z",
  completed_at: "2026-11-20T09:00:02.241Z"
}

const receipted: Invoice.Invoice = {
  ...accepted,
  official_mode: "online",
  upo_available: true,
  updated_at: "2026-11-20T09:00:03.255Z"
}

const endpoint: WebhookEndpoint = {
  id: id("we", "2026-11-19T14:06:30.556Z"),
  object: "webhook_endpoint",
  organization_id: organization.id,
  url: "https://example.com/webhooks",
  description: "Bookkeeping",
  event_types: ["invoice.accepted", "invoice.rejected"],
  enabled: true,
  disabled_reason: null,
  failing_since: null,
  standard_webhooks: false,
  modes: ["test", "live"],
  headers: ["X-Api-Key"],
  max_in_flight: null,
  next_secret_at: null,
  created_at: "2026-11-19T14:06:30.556Z",
  updated_at: "2026-11-19T14:06:30.556Z"
}

const newEndpoint: NewWebhookEndpoint = { ...endpoint, secret: "whsec_3Rk8…" }

const rotatedEndpoint: RotatedWebhookEndpoint = {
  ...endpoint,
  secret: "whsec_Vt1x…",
  next_secret_at: "2026-11-21T10:00:00.000Z",
  updated_at: "2026-11-20T10:00:00.000Z",
  secret_activates_at: "2026-11-21T10:00:00.000Z"
}

const delivery: WebhookDelivery = {
  id: id("wd", accepted.updated_at),
  object: "webhook_delivery",
  event_id: id("evt", accepted.updated_at),
  event_type: "invoice.accepted",
  endpoint_id: endpoint.id,
  status: "retrying",
  attempt_count: 1,
  last_http_status: 503,
  last_error_summary: "The endpoint returned HTTP 503.",
  next_retry_at: "2026-11-20T09:00:07.702Z",
  created_at: "2026-11-20T09:00:02.241Z",
  updated_at: "2026-11-20T09:00:02.702Z",
  last_attempted_at: "2026-11-20T09:00:02.640Z",
  delivered_at: null
}

const bucket: Statistics.DeliveryBucket = {
  start: "2026-11-20T09:00:00.000Z",
  total: 214,
  retrying: 2,
  failed: 1,
  endpoint_disabled: 0,
  capped: false
}

const stats: Statistics.WebhookDeliveryStats = {
  object: "webhook_delivery_stats",
  endpoint_id: endpoint.id,
  window: "24h",
  bucket_seconds: 3600,
  generated_at: "2026-11-20T09:30:00.000Z",
  now: { waiting: 3, retrying: 2 },
  buckets: [bucket]
}

const overview: Statistics.OrganizationOverview = {
  object: "organization_overview",
  organization_id: organization.id,
  window: "24h",
  bucket_seconds: 3600,
  generated_at: "2026-11-20T09:30:00.000Z",
  endpoints: [{ endpoint_id: endpoint.id, waiting: 3, retrying: 2, failed_24h: 1, buckets: [bucket] }],
  limited_since: null,
  notices: [{ type: "credential_expiring", endpoint_id: null, since: null, expires_at: "2026-12-14T22:59:59.000Z" }],
  invoices: {
    retrying: 0,
    rejected_24h: 4,
    failed_24h: 0,
    accepted_24h: 412,
    in_progress: 7,
    median_seconds_to_upo: 42.108
  }
}

const liveStatus: LiveStatus = {
  object: "live_status",
  organization_id: organization.id,
  available: true,
  live_mode: true,
  environment: "test",
  waiting: { count: 3, oldest_at: "2026-11-20T09:29:41.108Z", failure: null },
  undecided: { count: 12, oldest_at: "2026-11-20T09:28:03.950Z", failure: null },
  limits: [{ group: "invoiceSend", used: 96, per_hour: 180, blocked_until: null }]
}

const page = <A>(record: A) => ({ object: "list" as const, data: [record], has_more: false, next_cursor: null })

/** The example of each operation, by operation id. */
export const operations = {
  "me.get": { response: me },
  "invoices.submit": { request: submission, response: received },
  "invoices.list": { response: page(receipted) },
  "invoices.get": { response: receipted },
  "accounts.create": { request: credentials, response: account },
  "accounts.login": { request: credentials, response: tokens },
  "accounts.refresh": { request: refreshToken, response: tokens },
  "accounts.logout": { request: refreshToken },
  "accounts.changePassword": {
    request: { current_password: credentials.password, new_password: "another correct horse battery staple" }
  },
  "accounts.get": { response: account },
  "organizations.create": { request: { name: organization.name }, response: organization },
  "organizations.update": { request: { name: organization.name }, response: organization },
  "organizations.getGatewayCredential": { response: gatewayCredential },
  "organizations.putGatewayCredential": {
    request: {
      type: "certificate",
      certificate: "-----BEGIN CERTIFICATE-----\nMIIC…\n-----END CERTIFICATE-----\n",
      private_key: "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIF…\n-----END ENCRYPTED PRIVATE KEY-----\n",
      private_key_password: "correct horse …",
      context: { type: "Nip", value: "5265877635" }
    }
  },
  "organizations.getOfflineCertificate": { response: offlineCertificate },
  "organizations.putOfflineCertificate": {
    request: {
      certificate: "-----BEGIN CERTIFICATE-----\nMIIC…\n-----END CERTIFICATE-----\n",
      private_key: "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIF…\n-----END ENCRYPTED PRIVATE KEY-----\n",
      private_key_password: "correct horse …"
    }
  },
  "organizations.list": { response: page(organization) },
  "organizations.get": { response: organization },
  "organizations.getOverview": { response: overview },
  "organizations.getLiveStatus": { response: liveStatus },
  "organizations.getInvoice": { response: receipted },
  "organizations.listInvoices": { response: page(receipted) },
  "apiKeys.create": { request: { mode: "test", name: "Shop" }, response: newApiKey },
  "apiKeys.list": { response: page(apiKey) },
  "webhookEndpoints.create": {
    request: {
      url: endpoint.url,
      event_types: endpoint.event_types,
      description: endpoint.description,
      headers: { "X-Api-Key": "key-of-the-gateway" }
    },
    response: newEndpoint
  },
  "webhookEndpoints.update": {
    request: { enabled: false },
    response: { ...endpoint, enabled: false, updated_at: "2026-11-20T10:00:00.000Z" }
  },
  "webhookEndpoints.rotateSecret": { request: { activates_in_seconds: 86_400 }, response: rotatedEndpoint },
  "webhookEndpoints.list": { response: page(endpoint) },
  "webhookEndpoints.get": { response: endpoint },
  "webhookEndpoints.getDeliveryStats": { response: stats },
  "webhookEndpoints.getDelivery": { response: delivery },
  "webhookEndpoints.listAllDeliveries": { response: page(delivery) },
  "webhookEndpoints.listDeliveries": { response: page(delivery) }
} satisfies Readonly<Record<string, Example>>

/** Returns the example of an operation. It is empty if the operation has no bodies. */
export const of = (operation: string): Example => (operations as Readonly<Record<string, Example>>)[operation] ?? {}

const parameters: Readonly<Record<string, unknown>> = {
  id: receipted.id,
  invoice_id: receipted.id,
  org_id: organization.id,
  key_id: apiKey.id,
  endpoint_id: endpoint.id,
  delivery_id: delivery.id,
  event_id: delivery.event_id,
  event_type: delivery.event_type,
  "idempotency-key": "invoice-2026-11-0042",
  idempotency_key: "invoice-2026-11-0042",
  "gov-sandbox-scenario": "accepted",
  "gov-sandbox-checks": "schema",
  "if-none-match": '"5f0c1a"',
  limit: 50,
  cursor: "aW52XzAxbTd3…",
  status: "failed",
  mode: "test",
  window: "24h",
  number: "FV/2026/11/0042",
  official_number: "5265877635-20261120-0A1B2C3D4E5F-43",
  buyer_tax_id: "5260250274",
  seller_tax_id: "5265877635",
  code: "1",
  format: "png",
  label: "true",
  order: "asc",
  created_after: "2026-11-20T00:00:00Z",
  created_before: "2026-11-21T00:00:00Z",
  metadata: submission.metadata
}

/** Returns the example of a parameter. */
export const parameter = (name: string): unknown => {
  if (!(name in parameters)) throw new Error(`The parameter ${name} has no example`)
  return parameters[name]
}

/** Returns the example of an event. */
export const event = (type: InvoiceEvent.EventType): InvoiceEvent.InvoiceEvent => {
  const at = (seconds: number) => new Date(Date.parse(received.created_at) + seconds * 1000).toISOString()
  const invoice: Invoice.Invoice = { ...received, ...InvoiceEvent.descriptions[type].example(at) }
  return {
    id: id("evt", invoice.updated_at),
    object: "event",
    type,
    mode: invoice.mode,
    created_at: invoice.updated_at,
    data: { invoice }
  }
}

const details: { readonly [C in Problems.Code]?: Problems.Details } = {
  unknown_parameter: { param: "color", message: 'Unknown parameter "color". Correct its name or remove it.' },
  invalid_parameter: { param: "name", message: "name must have 1 to 200 characters." },
  invalid_invoice_xml: { message: "invoice_xml is missing." },
  invalid_metadata: { message: "metadata may have at most 50 keys." }
}

/** Returns the example of an error. */
export const problem = (code: Problems.Code): Problems.Problem =>
  Problems.make(code, id("req", "2026-11-20T09:00:00.214Z"), details[code])
