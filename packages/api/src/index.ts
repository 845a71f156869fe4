/**
 * The HTTP contract of Govoice.
 *
 * @module
 */
export * as Account from "./Account.ts"
export * as AccountAuthorization from "./AccountAuthorization.ts"
export { AccountsApi } from "./AccountsApi.ts"
export { Api } from "./Api.ts"
export * as ApiKey from "./ApiKey.ts"
export { ApiKeysApi } from "./ApiKeysApi.ts"
export * as DeveloperAuthorization from "./DeveloperAuthorization.ts"
export * as Document from "./Document.ts"
export * as GatewayCredential from "./GatewayCredential.ts"
export { InvoicesApi } from "./InvoicesApi.ts"
export * as Lists from "./Lists.ts"
export * as LiveStatus from "./LiveStatus.ts"
export { MeApi } from "./MeApi.ts"
export * as Organization from "./Organization.ts"
export { OrganizationsApi } from "./OrganizationsApi.ts"
export * as Problems from "./Problems.ts"
export { CurrentRequestId } from "./RequestId.ts"
export * as Statistics from "./Statistics.ts"
export * as Submission from "./Submission.ts"
export * as SubmissionHeaders from "./SubmissionHeaders.ts"
export * as Validation from "./Validation.ts"
export * as WebhookDelivery from "./WebhookDelivery.ts"
export * as WebhookEndpoint from "./WebhookEndpoint.ts"
export { WebhookEndpointsApi } from "./WebhookEndpointsApi.ts"
