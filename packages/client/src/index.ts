/**
 * The client of the Govoice API.
 *
 * @module
 * @since 0.1.0
 */
export { createClient } from "./client.ts"
export type { Client } from "./client.ts"
export { createConnection } from "./connection.ts"
export type { Connection } from "./connection.ts"
export type {
  CallOptions,
  ConnectionOptions,
  DeveloperOptions,
  RequestInfo,
  ResponseInfo,
  RetryInfo
} from "./options.ts"

export {
  downloadDocument,
  downloadPdf,
  downloadQr,
  downloadUpo,
  getInvoice,
  getMe,
  listSubmittedInvoices,
  submitInvoice
} from "./invoices.ts"
export type { InvoiceSubmission, SubmitOptions, SubmittedInvoice, SubmittedInvoiceListOptions } from "./invoices.ts"
export type { Download, QrOptions } from "./download.ts"
export { submitAndWait, waitForUpo, waitUntilFinal } from "./waiting.ts"
export type { SubmitAndWaitOptions, WaitOptions } from "./waiting.ts"

export { createControlPlane } from "./controlPlane.ts"
export type { ControlPlane } from "./controlPlane.ts"
export { createSession, createTokenSession } from "./session.ts"
export type { ControlPlaneConnection, Session, TokenSessionOptions } from "./session.ts"
export { changePassword, createAccount, getAccount, logoutAll } from "./accounts.ts"
export { createApiKey, listApiKeys, revokeApiKey } from "./apiKeys.ts"
export {
  createOrganization,
  deleteGatewayCredential,
  deleteOfflineCertificate,
  downloadOrganizationDocument,
  downloadOrganizationPdf,
  downloadOrganizationQr,
  downloadOrganizationUpo,
  getGatewayCredential,
  getLiveStatus,
  getOfflineCertificate,
  getOrganization,
  getOrganizationInvoice,
  getOverview,
  listInvoices,
  listOrganizations,
  setGatewayCredential,
  setOfflineCertificate,
  updateOrganization
} from "./organizations.ts"
export type { InvoiceListOptions, OverviewOptions } from "./organizations.ts"
export type { InvoiceNames, List, ListOptions, Page } from "./list.ts"
export {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getDelivery,
  getDeliveryStats,
  getWebhookEndpoint,
  listDeliveries,
  listOrganizationDeliveries,
  listWebhookEndpoints,
  rotateWebhookSecret,
  updateWebhookEndpoint
} from "./webhookEndpoints.ts"
export type { DeliveryListOptions, DeliveryStatsOptions } from "./webhookEndpoints.ts"

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
export type { ErrorCode, ErrorType } from "./errorCode.ts"

export type { RequestParts, Send } from "./internal/transport.ts"
export type { ByteStream, Fetch, FetchInit, FetchResponse, PlatformSignal, ResponseHeaders, Signal } from "./fetch.ts"
export type {
  Account,
  ApiKey,
  ApiKeyRequest,
  CallLimit,
  CertificateCredential,
  Credentials,
  DeliveryBucket,
  DeliveryStatus,
  EventType,
  GatewayCredential,
  GatewayCredentialRequest,
  GatewayCredentialState,
  GatewayCredentialType,
  Invoice,
  InvoiceStatus,
  InvoicingMode,
  Known,
  KsefTokenCredential,
  LiveStatus,
  Me,
  Mode,
  NewAccount,
  NewApiKey,
  NewWebhookEndpoint,
  OfflineCertificate,
  OfflineCertificateRequest,
  OfflineCertificateState,
  Organization,
  OrganizationChange,
  OrganizationOverview,
  OwnerNotice,
  OwnerNoticeType,
  OrganizationRequest,
  PasswordChange,
  RotatedWebhookEndpoint,
  SandboxScenario,
  SecretRotation,
  StatisticsWindow,
  WebhookDelivery,
  WebhookDeliveryStats,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest
} from "./records.ts"
