/**
 * The records of the API as `decode` checks them.
 *
 * Generated from @govoice/api by `test/support/generate.ts`: change it there.
 *
 * @module
 */

export const me =
  "object id mode name? last4 createdAt organization.id organization.object organization.name liveModeAvailable:boolean"

export const invoice =
  "id object mode status scenario? metadata:object officialNumber? rejection.code? rejection.message? failure.code? failure.message? upoAvailable:boolean attemptCount:number nextAttemptAt? createdAt updatedAt submittedAt? completedAt?"

export const account = "id object email createdAt"

export const organization = "id object name gatewayCredential.present:boolean gatewayCredential.updatedAt? createdAt"

export const apiKey = "id object organizationId mode name? last4 createdAt expiresAt?"

export const newApiKey = "id object organizationId mode name? last4 createdAt expiresAt? secret"

export const webhookEndpoint =
  "id object organizationId url description? eventTypes:object enabled:boolean createdAt updatedAt"

export const newWebhookEndpoint =
  "id object organizationId url description? eventTypes:object enabled:boolean createdAt updatedAt secret"

export const rotatedWebhookEndpoint =
  "id object organizationId url description? eventTypes:object enabled:boolean createdAt updatedAt secret secretActivatesAt"

export const webhookDelivery =
  "id object eventId eventType endpointId status attemptCount:number lastHttpStatus:number? lastErrorSummary? nextRetryAt? createdAt updatedAt lastAttemptedAt? deliveredAt?"

export const tokenPair = "accessToken tokenType expiresIn:number refreshToken refreshExpiresIn:number"

export const error = "error.type error.code error.message error.param? error.requestId error.retryable:boolean"

export const page = "object hasMore:boolean nextCursor?"
