/**
 * The schemas of responses, in the format of `RecordSchema`.
 *
 * Generated from @govoice/api by `test/support/generate.ts`. Do not edit.
 *
 * @module
 * @since 0.1.0
 */

export const me =
  "object id mode name? last4 createdAt organization.id organization.object organization.name liveModeAvailable:b"

export const invoice =
  "id object mode status scenario? metadata:o document.form? verification.url? verification.label? invoicingMode officialMode? sendBy? corrects? officialNumber? rejection.code? rejection.message? failure.code? failure.message? upoAvailable:b attemptCount:n nextAttemptAt? createdAt updatedAt submittedAt? completedAt?"

export const account = "id object email createdAt"

export const organization = "id object name gatewayCredential.present:b gatewayCredential.updatedAt? createdAt"

export const gatewayCredential =
  "object present:b type? context.type? context.value? environment? expiresAt? state? checkedAt? refusal.code? refusal.message? updatedAt?"

export const offlineCertificate =
  "object present:b environment? serialNumber? subject? validFrom? validUntil? state? updatedAt?"

export const apiKey = "id object organizationId mode name? last4 createdAt expiresAt?"

export const newApiKey = "id object organizationId mode name? last4 createdAt expiresAt? secret"

export const webhookEndpoint =
  "id object organizationId url description? eventTypes:o enabled:b disabledReason? failingSince? standardWebhooks:b modes:o headers:o maxInFlight:n? nextSecretAt? createdAt updatedAt"

export const newWebhookEndpoint =
  "id object organizationId url description? eventTypes:o enabled:b disabledReason? failingSince? standardWebhooks:b modes:o headers:o maxInFlight:n? nextSecretAt? createdAt updatedAt secret"

export const rotatedWebhookEndpoint =
  "id object organizationId url description? eventTypes:o enabled:b disabledReason? failingSince? standardWebhooks:b modes:o headers:o maxInFlight:n? nextSecretAt? createdAt updatedAt secret secretActivatesAt"

export const webhookDelivery =
  "id object eventId eventType endpointId status attemptCount:n lastHttpStatus:n? lastErrorSummary? nextRetryAt? createdAt updatedAt lastAttemptedAt? deliveredAt?"

export const webhookDeliveryStats = "object endpointId window bucketSeconds:n generatedAt now.waiting:n now.retrying:n"

export const organizationOverview =
  "object organizationId window bucketSeconds:n generatedAt limitedSince? invoices.retrying:n invoices.rejected24h:n invoices.failed24h:n invoices.accepted24h:n invoices.inProgress:n invoices.medianSecondsToUpo:n?"

export const liveStatus =
  "object organizationId available:b liveMode:b environment? waiting.count:n waiting.oldestAt? waiting.failure.code? waiting.failure.message? undecided.count:n undecided.oldestAt? undecided.failure.code? undecided.failure.message?"

export const tokenPair = "accessToken refreshToken"

export const error = "type code message param? requestId retryable:b"

export const page = "hasMore:b nextCursor?"
