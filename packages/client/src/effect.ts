/**
 * The same names as the root entry, as Effects: what fails is in the error channel, and interruption aborts the request.
 *
 * Lists are pages here, so that each is an Effect; see {@link listInvoices}.
 *
 * @module
 */
import * as Accounts from "./accounts.ts"
import * as ApiKeys from "./apiKeys.ts"
import { type Connection, createConnection, type ConnectionOptions, type DeveloperOptions } from "./connection.ts"
import { bind } from "./internal/bind.ts"
import { lift, type Lifted, liftList, type LiftedList } from "./internal/lift.ts"
import * as Invoices from "./invoices.ts"
import * as Organizations from "./organizations.ts"
import * as Root from "./session.ts"
import * as Waiting from "./waiting.ts"
import * as WebhookEndpoints from "./webhookEndpoints.ts"

/** Shows the API key that the connection has, and its organization. */
export const getMe: Lifted<typeof Invoices.getMe> = /* @__PURE__ */ lift(Invoices.getMe, 1)

/**
 * Submits an invoice.
 *
 * **Details**
 *
 * As in the root entry. Each run of the Effect is a submission of its own unless `idempotencyKey` is given, so give one
 * where the Effect may be run again, as `Effect.retry` does.
 *
 * **Gotchas**
 *
 * A key with other characters than printable ASCII is a defect.
 */
export const submitInvoice: Lifted<typeof Invoices.submitInvoice> = /* @__PURE__ */ lift(Invoices.submitInvoice, 2)

/** Shows where an invoice stands. */
export const getInvoice: Lifted<typeof Invoices.getInvoice> = /* @__PURE__ */ lift(Invoices.getInvoice, 2)

/** Downloads the official receipt (UPO). */
export const downloadUpo: Lifted<typeof Invoices.downloadUpo> = /* @__PURE__ */ lift(Invoices.downloadUpo, 2)

/** Waits until the status of an invoice is final. */
export const waitUntilFinal: Lifted<typeof Waiting.waitUntilFinal> = /* @__PURE__ */ lift(Waiting.waitUntilFinal, 2)

/** Waits until the official receipt (UPO) of an invoice can be downloaded. */
export const waitForUpo: Lifted<typeof Waiting.waitForUpo> = /* @__PURE__ */ lift(Waiting.waitForUpo, 2)

/** Submits an invoice and waits until its status is final. */
export const submitAndWait: Lifted<typeof Waiting.submitAndWait> = /* @__PURE__ */ lift(Waiting.submitAndWait, 2)

/** Makes an account. It does not log in. */
export const createAccount: Lifted<typeof Accounts.createAccount> = /* @__PURE__ */ lift(Accounts.createAccount, 2)

/** Shows the account that is logged in. */
export const getAccount: Lifted<typeof Accounts.getAccount> = /* @__PURE__ */ lift(Accounts.getAccount, 1)

/** Makes an API key. Its `secret` is shown this once. */
export const createApiKey: Lifted<typeof ApiKeys.createApiKey> = /* @__PURE__ */ lift(ApiKeys.createApiKey, 3)

/** A page of the API keys of an organization that are not revoked. */
export const listApiKeys: LiftedList<typeof ApiKeys.listApiKeys> = /* @__PURE__ */ liftList(ApiKeys.listApiKeys, 2)

/** Revokes an API key, at once. */
export const revokeApiKey: Lifted<typeof ApiKeys.revokeApiKey> = /* @__PURE__ */ lift(ApiKeys.revokeApiKey, 2)

/** Makes an organization. */
export const createOrganization: Lifted<typeof Organizations.createOrganization> = /* @__PURE__ */ lift(
  Organizations.createOrganization,
  2
)

/** A page of the organizations of the account. */
export const listOrganizations: LiftedList<typeof Organizations.listOrganizations> = /* @__PURE__ */ liftList(
  Organizations.listOrganizations,
  1
)

/** Shows an organization. */
export const getOrganization: Lifted<typeof Organizations.getOrganization> = /* @__PURE__ */ lift(
  Organizations.getOrganization,
  2
)

/** Changes an organization. */
export const updateOrganization: Lifted<typeof Organizations.updateOrganization> = /* @__PURE__ */ lift(
  Organizations.updateOrganization,
  3
)

/** Stores the credential of an organization for the national system, in place of one that is stored already. */
export const setGatewayCredential: Lifted<typeof Organizations.setGatewayCredential> = /* @__PURE__ */ lift(
  Organizations.setGatewayCredential,
  3
)

/** Removes the credential of an organization for the national system. */
export const deleteGatewayCredential: Lifted<typeof Organizations.deleteGatewayCredential> = /* @__PURE__ */ lift(
  Organizations.deleteGatewayCredential,
  2
)

/**
 * A page of the invoices of an organization, newest first.
 *
 * **Example** (A list as a stream)
 *
 * ```ts
 * import { createSession, listInvoices } from "@govoice/client/effect"
 * import * as Effect from "effect/Effect"
 * import * as Option from "effect/Option"
 * import * as Stream from "effect/Stream"
 *
 * const session = createSession({ baseUrl: "https://api.example.com" })
 *
 * export const invoices = (organizationId: string) =>
 *   Stream.paginate(undefined as string | undefined, (cursor) =>
 *     Effect.map(
 *       listInvoices(session, organizationId, { cursor, limit: 100 }),
 *       ({ data, nextCursor }) => [data, Option.fromNullOr(nextCursor)] as const
 *     )
 *   )
 * ```
 */
export const listInvoices: LiftedList<typeof Organizations.listInvoices> = /* @__PURE__ */ liftList(
  Organizations.listInvoices,
  2
)

/** Makes a webhook endpoint. Its signing `secret` is shown this once. */
export const createWebhookEndpoint: Lifted<typeof WebhookEndpoints.createWebhookEndpoint> = /* @__PURE__ */ lift(
  WebhookEndpoints.createWebhookEndpoint,
  3
)

/** A page of the webhook endpoints of an organization. */
export const listWebhookEndpoints: LiftedList<typeof WebhookEndpoints.listWebhookEndpoints> = /* @__PURE__ */ liftList(
  WebhookEndpoints.listWebhookEndpoints,
  2
)

/** Shows a webhook endpoint. */
export const getWebhookEndpoint: Lifted<typeof WebhookEndpoints.getWebhookEndpoint> = /* @__PURE__ */ lift(
  WebhookEndpoints.getWebhookEndpoint,
  2
)

/** Changes a webhook endpoint. */
export const updateWebhookEndpoint: Lifted<typeof WebhookEndpoints.updateWebhookEndpoint> = /* @__PURE__ */ lift(
  WebhookEndpoints.updateWebhookEndpoint,
  3
)

/** Makes a new signing secret, shown this once. The old one signs until `secretActivatesAt`. */
export const rotateWebhookSecret: Lifted<typeof WebhookEndpoints.rotateWebhookSecret> = /* @__PURE__ */ lift(
  WebhookEndpoints.rotateWebhookSecret,
  3
)

/** Deletes a webhook endpoint. */
export const deleteWebhookEndpoint: Lifted<typeof WebhookEndpoints.deleteWebhookEndpoint> = /* @__PURE__ */ lift(
  WebhookEndpoints.deleteWebhookEndpoint,
  2
)

/** A page of what became of the deliveries to a webhook endpoint. */
export const listDeliveries: LiftedList<typeof WebhookEndpoints.listDeliveries> = /* @__PURE__ */ liftList(
  WebhookEndpoints.listDeliveries,
  2
)

/** A way to the control plane that logs in. */
export interface Session extends Root.ControlPlaneConnection {
  /** Logs in. The tokens stay inside, and are renewed when they have to be. */
  readonly login: Lifted<Root.Session["login"]>

  /** Logs out: the service revokes all that came from the login. Does nothing when nobody is logged in. */
  readonly logout: Lifted<Root.Session["logout"]>
}

/**
 * A way to the control plane, for functions such as {@link createOrganization}.
 *
 * @throws {TypeError} when `baseUrl` cannot be one.
 */
export const createSession = (options: ConnectionOptions): Session => {
  const session = Root.createSession(options)
  return { ...session, login: lift(session.login, 1), logout: lift(session.logout, 0) }
}

const developer = (connection: Connection) => ({
  ...connection,
  me: bind(connection, getMe),
  invoices: {
    submit: bind(connection, submitInvoice),
    get: bind(connection, getInvoice),
    waitUntilFinal: bind(connection, waitUntilFinal),
    waitForUpo: bind(connection, waitForUpo),
    downloadUpo: bind(connection, downloadUpo),
    submitAndWait: bind(connection, submitAndWait)
  }
})

/** The developer API. Each method is the function with the same name, or the longer one. */
export interface Client extends ReturnType<typeof developer> {}

/**
 * A client of the developer API.
 *
 * **Example** (Submitting an invoice)
 *
 * ```ts
 * import { createClient } from "@govoice/client/effect"
 * import * as Effect from "effect/Effect"
 *
 * const client = createClient({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * export const program = client.invoices.submitAndWait({ invoiceXml: "<Faktura>…</Faktura>" }).pipe(
 *   Effect.map(({ officialNumber }) => officialNumber),
 *   Effect.catchTag("TimeoutError", ({ invoice }) => Effect.succeed(invoice?.status ?? null))
 * )
 * ```
 *
 * @throws {TypeError} when `baseUrl` or `apiKey` cannot be one.
 */
export const createClient = (options: DeveloperOptions): Client => developer(createConnection(options))

const owner = (session: Session) => ({
  ...session,
  accounts: { create: bind(session, createAccount), get: bind(session, getAccount) },
  organizations: {
    create: bind(session, createOrganization),
    list: bind(session, listOrganizations),
    get: bind(session, getOrganization),
    update: bind(session, updateOrganization),
    setGatewayCredential: bind(session, setGatewayCredential),
    deleteGatewayCredential: bind(session, deleteGatewayCredential)
  },
  apiKeys: {
    create: bind(session, createApiKey),
    list: bind(session, listApiKeys),
    revoke: bind(session, revokeApiKey)
  },
  webhookEndpoints: {
    create: bind(session, createWebhookEndpoint),
    list: bind(session, listWebhookEndpoints),
    get: bind(session, getWebhookEndpoint),
    update: bind(session, updateWebhookEndpoint),
    rotateSecret: bind(session, rotateWebhookSecret),
    delete: bind(session, deleteWebhookEndpoint)
  },
  invoices: { list: bind(session, listInvoices) },
  deliveries: { list: bind(session, listDeliveries) }
})

/** The control plane. Each method is the function with the longer name. */
export interface ControlPlane extends ReturnType<typeof owner> {}

/**
 * A client of the control plane: what an owner sets up, once.
 *
 * @throws {TypeError} when `baseUrl` cannot be one.
 */
export const createControlPlane = (options: ConnectionOptions): ControlPlane => owner(createSession(options))

export { createConnection } from "./connection.ts"
export type {
  Connection,
  ConnectionOptions,
  DeveloperOptions,
  RequestInfo,
  ResponseInfo,
  RetryInfo
} from "./connection.ts"
export {
  AbortedError,
  ApiError,
  ConnectionError,
  DecodeError,
  GovoiceError,
  isApiError,
  isGovoiceError,
  TimeoutError,
  UpoUnavailableError
} from "./error.ts"
export type { AnyGovoiceError, ErrorFields } from "./error.ts"
export type { RequestParts, Send } from "./internal/transport.ts"
export type { ErrorCode, ErrorType } from "./errorCode.ts"
export type { Page } from "./list.ts"
export type { InvoiceSubmission, SubmittedInvoice, Upo } from "./invoices.ts"
export type { Invoice } from "./records.ts"
