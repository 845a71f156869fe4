/**
 * Verifies and signs webhooks on any runtime with Web Crypto.
 *
 * @module
 * @since 0.1.0
 */
export { createVerifier } from "./verifier.ts"
export type { VerifiedWebhook, Verifier, VerifierOptions, WebhookRequest } from "./verifier.ts"

export { sign, signedHeaders, signSync } from "./sign.ts"
export type { SignedHeaders, SignedHeadersOptions, SignOptions } from "./sign.ts"

export { WebhookVerificationError } from "./error.ts"
export type { WebhookVerificationErrorCode } from "./error.ts"

export type { WebhookBody } from "./body.ts"
export type { WebhookHeaders } from "./headers.ts"
export type {
  AcceptedInvoice,
  FailedInvoice,
  InvoiceByEventType,
  InvoiceEvent,
  InvoiceEventType,
  ReceiptedInvoice,
  ReceivedInvoice,
  RejectedInvoice,
  SubmittedInvoice,
  UnknownEvent,
  UnknownEventType,
  WebhookEvent
} from "./event.ts"
