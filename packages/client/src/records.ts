/**
 * The records of the API, in camelCase. Times are ISO 8601 in UTC with milliseconds.
 *
 * Where a member has one of several values, values that are younger than this package arrive too.
 *
 * Generated from @govoice/api by `test/support/generate.ts`: change it there.
 *
 * @module
 */

/** Whether it is for the sandbox or real. */
export type Mode = "test" | "live" | (string & {})

/** Where an invoice stands. `accepted`, `rejected` and `failed` are final. */
export type InvoiceStatus =
  | "queued"
  | "submitting"
  | "retrying"
  | "submitted"
  | "accepted"
  | "rejected"
  | "failed"
  | (string & {})

/** How the sandbox treats an invoice. */
export type SandboxScenario = "accepted" | "rejected" | "temporary_failure" | "delayed" | (string & {})

/** Where a delivery stands. */
export type DeliveryStatus =
  | "pending"
  | "delivering"
  | "succeeded"
  | "retrying"
  | "failed"
  | "endpoint_disabled"
  | (string & {})

/** What is announced about an invoice. */
export type EventType =
  | "invoice.received"
  | "invoice.submitted"
  | "invoice.accepted"
  | "invoice.upo_available"
  | "invoice.rejected"
  | "invoice.failed"
  | (string & {})

/** The values of an open union that are known here: those that a request may have. */
export type Known<T extends string> = T extends unknown ? (string extends T ? never : T) : never

/** The API key that was sent, and its organization. */
export interface Me {
  readonly object: "api_key"
  readonly id: string
  readonly mode: Mode
  readonly name: string | null
  readonly last4: string
  readonly createdAt: string
  readonly organization: {
    readonly id: string
    readonly object: "organization"
    readonly name: string
  }
  /** Whether a live key of this organization could submit now. */
  readonly liveModeAvailable: boolean
}

/** One submitted invoice. */
export interface Invoice {
  readonly id: string
  readonly object: "invoice"
  readonly mode: Mode
  readonly status: InvoiceStatus
  /** The sandbox scenario; null for live invoices. */
  readonly scenario: SandboxScenario | null
  /** Strings by name: at most 50 keys of at most 40 characters, values of at most 500. */
  readonly metadata: { readonly [name: string]: string }
  /** The number that the national system assigned, once the invoice is accepted. */
  readonly officialNumber: string | null
  /** Why the national system refused the invoice. */
  readonly rejection: {
    readonly code: string
    readonly message: string
  } | null
  /** Why the gateway failed, last or for good. */
  readonly failure: {
    readonly code: string
    readonly message: string
  } | null
  /** Whether the official receipt (UPO) can be downloaded. */
  readonly upoAvailable: boolean
  /** How many times a submission was attempted. */
  readonly attemptCount: number
  /** When a retrying invoice is attempted next. */
  readonly nextAttemptAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
  /** When the national system took the invoice. */
  readonly submittedAt: string | null
  /** When the invoice reached its final status. */
  readonly completedAt: string | null
}

/** Who owns organizations and logs in. */
export interface Account {
  readonly id: string
  readonly object: "account"
  readonly email: string
  readonly createdAt: string
}

/** What API keys, endpoints and invoices belong to. */
export interface Organization {
  readonly id: string
  readonly object: "organization"
  readonly name: string
  /** Whether a credential for the national system is stored, and since when. */
  readonly gatewayCredential: {
    readonly present: boolean
    readonly updatedAt: string | null
  }
  readonly createdAt: string
}

/** A key for the developer API. The key itself is not stored. */
export interface ApiKey {
  readonly id: string
  readonly object: "api_key"
  readonly organizationId: string
  readonly mode: Mode
  readonly name: string | null
  /** The last four characters of the key, to tell keys apart. */
  readonly last4: string
  readonly createdAt: string
  readonly expiresAt: string | null
}

/** A key for the developer API, with the key itself. */
export interface NewApiKey extends ApiKey {
  /** The key itself, `sk_test_…` or `sk_live_…`. Shown this once. */
  readonly secret: string
}

/** An address that events are sent to. */
export interface WebhookEndpoint {
  readonly id: string
  readonly object: "webhook_endpoint"
  readonly organizationId: string
  readonly url: string
  readonly description: string | null
  readonly eventTypes: ReadonlyArray<"*" | EventType>
  readonly enabled: boolean
  readonly createdAt: string
  readonly updatedAt: string
}

/** An address that events are sent to, with its signing secret. */
export interface NewWebhookEndpoint extends WebhookEndpoint {
  /** The signing secret, `whsec_…`. The whole string is the HMAC key. Shown this once. */
  readonly secret: string
}

/** An address that events are sent to, with its next signing secret. */
export interface RotatedWebhookEndpoint extends WebhookEndpoint {
  /** The signing secret, `whsec_…`. The whole string is the HMAC key. Shown this once. */
  readonly secret: string
  readonly secretActivatesAt: string
}

/** What became of one event at one endpoint. */
export interface WebhookDelivery {
  readonly id: string
  readonly object: "webhook_delivery"
  readonly eventId: string
  readonly eventType: EventType
  readonly endpointId: string
  readonly status: DeliveryStatus
  /** Outbound attempts made. */
  readonly attemptCount: number
  /** The last HTTP status received; null for failures of the connection and before the first attempt. */
  readonly lastHttpStatus: number | null
  /** A sentence of ours; null on success. */
  readonly lastErrorSummary: string | null
  /** When a retrying delivery is sent next. */
  readonly nextRetryAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly lastAttemptedAt: string | null
  readonly deliveredAt: string | null
}

/** Who signs up. */
export interface NewAccount {
  /** An email address. Letter case does not count. */
  readonly email: string
  /** 12 to 128 characters. */
  readonly password: string
}

/** Who logs in. */
export interface Credentials {
  /** Text of 1 to 254 characters. */
  readonly email: string
  /** Text of 1 to 128 characters. */
  readonly password: string
}

/** An organization to make. */
export interface OrganizationRequest {
  /** Text of 1 to 200 characters. */
  readonly name: string
}

/** What is to change of an organization; the rest stays. */
export interface OrganizationChange {
  /** Text of 1 to 200 characters. */
  readonly name?: string | undefined
}

/** The credential for the national system. It is never returned. */
export interface GatewayCredential {
  /** The token that the national system issued. */
  readonly token: string
  /** A Polish tax number (NIP): ten digits, the last of which checks the others. */
  readonly contextNip: string
}

/** An API key to make. */
export interface ApiKeyRequest {
  readonly mode: Known<Mode>
  /** A name of your own, to tell keys apart. */
  readonly name?: string | null | undefined
  /** When the key stops working, ISO 8601 in UTC. Never, when it is null or left out. */
  readonly expiresAt?: string | null | undefined
}

/** A webhook endpoint to make. */
export interface WebhookEndpointRequest {
  /** Where events are sent. Must be https and lead to a public address, unless the deployment says otherwise. */
  readonly url: string
  /** Any of the six event types, or `["*"]` for all, also those added later. */
  readonly eventTypes: ReadonlyArray<"*" | Known<EventType>>
  /** A note of your own. */
  readonly description?: string | null | undefined
  /** Whether events are sent. Defaults to true when the endpoint is made. */
  readonly enabled?: boolean | undefined
}

/** What is to change of a webhook endpoint; the rest stays. */
export interface WebhookEndpointChange {
  /** Where events are sent. Must be https and lead to a public address, unless the deployment says otherwise. */
  readonly url?: string | undefined
  /** Any of the six event types, or `["*"]` for all, also those added later. */
  readonly eventTypes?: ReadonlyArray<"*" | Known<EventType>> | undefined
  /** A note of your own. */
  readonly description?: string | null | undefined
  /** Whether events are sent. Defaults to true when the endpoint is made. */
  readonly enabled?: boolean | undefined
}

/** When the new secret takes over. */
export interface SecretRotation {
  /** From when on the new secret signs, in seconds from now. Defaults to 0. */
  readonly activatesInSeconds?: number | undefined
}
