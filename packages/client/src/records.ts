/**
 * The records of the API, in camelCase. Timestamps are ISO 8601 in UTC with milliseconds.
 *
 * Unions are open: a newer service may send other values.
 *
 * Generated from @govoice/api by `test/support/generate.ts`. Do not edit.
 *
 * @module
 * @since 0.1.0
 */

/**
 * How an invoice was issued.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoicingMode = "online" | "offline" | (string & {})

/**
 * `test` for the sandbox, `live` for the national system.
 *
 * @category models
 * @since 0.1.0
 */
export type Mode = "test" | "live" | (string & {})

/**
 * The status of an invoice. `accepted`, `rejected` and `failed` are final.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoiceStatus =
  | "queued"
  | "submitting"
  | "retrying"
  | "submitted"
  | "accepted"
  | "rejected"
  | "failed"
  | (string & {})

/**
 * The sandbox scenario of an invoice.
 *
 * @category models
 * @since 0.1.0
 */
export type SandboxScenario = "accepted" | "rejected" | "temporary_failure" | "delayed" | (string & {})

/**
 * The kind of a credential for the national system.
 *
 * @category models
 * @since 0.1.0
 */
export type GatewayCredentialType = "ksef_token" | "certificate" | (string & {})

/**
 * Whether the national system accepted a credential. `unchecked` until the first login with it.
 *
 * @category models
 * @since 0.1.0
 */
export type GatewayCredentialState = "unchecked" | "accepted" | "refused" | (string & {})

/**
 * Whether a certificate can sign now.
 *
 * @category models
 * @since 0.1.0
 */
export type OfflineCertificateState = "valid" | "expired" | (string & {})

/**
 * What the owner of an organization should know.
 *
 * @category models
 * @since 0.1.0
 */
export type OwnerNoticeType =
  | "endpoint_failing"
  | "endpoint_disabled"
  | "credential_expiring"
  | "offline_certificate_expiring"
  | "token_login_ending"
  | (string & {})

/**
 * The status of a delivery.
 *
 * @category models
 * @since 0.1.0
 */
export type DeliveryStatus =
  | "pending"
  | "delivering"
  | "succeeded"
  | "retrying"
  | "failed"
  | "endpoint_disabled"
  | (string & {})

/**
 * The type of an event.
 *
 * @category models
 * @since 0.1.0
 */
export type EventType =
  | "invoice.received"
  | "invoice.submitted"
  | "invoice.accepted"
  | "invoice.upo_available"
  | "invoice.rejected"
  | "invoice.failed"
  | (string & {})

/**
 * The time that statistics cover.
 *
 * @category models
 * @since 0.1.0
 */
export type StatisticsWindow = "24h" | "7d" | (string & {})

/**
 * The known values of an open union. Requests accept these only.
 *
 * @category models
 * @since 0.1.0
 */
export type Known<T extends string> = T extends unknown ? (string extends T ? never : T) : never

/**
 * The API key of the request and its organization.
 *
 * @category models
 * @since 0.1.0
 */
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
  /** Whether live keys of this organization can submit. */
  readonly liveModeAvailable: boolean
}

/**
 * One submitted invoice.
 *
 * @category models
 * @since 0.1.0
 */
export interface Invoice {
  readonly id: string
  readonly object: "invoice"
  readonly mode: Mode
  readonly status: InvoiceStatus
  /** The sandbox scenario; null for live invoices. */
  readonly scenario: SandboxScenario | null
  /** Strings by name: at most 50 keys of at most 40 characters, values of at most 500. */
  readonly metadata: { readonly [name: string]: string }
  /** What the document says. Null if it is of no form that is known. */
  readonly document: {
    /** The form, such as `FA (3)`. */
    readonly form: string
    /** The kind (`RodzajFaktury`), such as `VAT` or `KOR`. */
    readonly kind: string | null
    /** The number of the invoice (`P_2`, in an FA_RR `P_4C`), with single spaces. */
    readonly number: string | null
    /** The date of issue (`P_1`, in an FA_RR `P_4B`), `YYYY-MM-DD`. */
    readonly issueDate: string | null
    /** The currency (`KodWaluty`). */
    readonly currency: string | null
    /** The total with tax (`P_15`, in an FA_RR `P_12_1`), in the digits of the document. */
    readonly total: string | null
    readonly seller: {
      /** The tax number: a NIP; for a buyer also a VAT number with its country, or another identifier. */
      readonly taxId: string | null
      readonly name: string | null
    } | null
    readonly buyer: {
      /** The tax number: a NIP; for a buyer also a VAT number with its country, or another identifier. */
      readonly taxId: string | null
      readonly name: string | null
    } | null
  } | null
  /** The code to print on the invoice. Null if the document has no tax number of the seller or no date. */
  readonly verification: {
    /** The link behind the QR code (KOD I). */
    readonly url: string
    /** The text below the QR code: the official number, or `OFFLINE` until there is one. */
    readonly label: string
    /** The link behind the second QR code (KOD II), below which `CERTYFIKAT` is printed. Null unless the invoice was issued offline. */
    readonly certificateUrl: string | null
  } | null
  /** How the invoice was issued, as submitted. */
  readonly invoicingMode: InvoicingMode
  /** How the national system took it, as its receipt says: an online invoice that arrived on a later day than its date of issue is `offline`. Null until there is a receipt. */
  readonly officialMode: InvoicingMode | null
  /** The last day for sending an invoice that was issued offline, `YYYY-MM-DD`: the working day in Poland after its date of issue, or the seventh one after a failure that the national system announced. Null for others. */
  readonly sendBy: string | null
  /** The rejected invoice, issued offline, that this one corrects technically. Null for others. */
  readonly corrects: string | null
  /** What the national system accepts but the seller should check, in the order of the document: at most 20 from the check of the document, and at most 5 that the national system sent with its answer. Empty where there is none, and for a document that was not checked. */
  readonly warnings: ReadonlyArray<{
    /** What it is about, such as `total_differs`; `system_warning` where the national system sent it. */
    readonly code: string
    readonly message: string
    /** The line of the document, from 1. Null where it is about no place in the document. */
    readonly line: number | null
    /** The column in that line, in characters, from 1. */
    readonly column: number | null
  }>
  /** The number that the national system assigned. Null until the invoice is accepted. */
  readonly officialNumber: string | null
  /** The reason for the rejection. Null unless the invoice is rejected. */
  readonly rejection: {
    readonly code: string
    readonly message: string
  } | null
  /** Why the invoice waits or failed. Null if nothing is known to be wrong, and for at most a minute while a live invoice waits. */
  readonly failure: {
    readonly code: string
    readonly message: string
  } | null
  /** Whether the official receipt (UPO) can be downloaded. */
  readonly upoAvailable: boolean
  /** The number of submission attempts. */
  readonly attemptCount: number
  /** The time of the next attempt, in the future. Null unless the invoice is retrying, and once that time has come. */
  readonly nextAttemptAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
  /** The time at which the national system received the invoice. */
  readonly submittedAt: string | null
  /** The time at which the invoice reached its final status. */
  readonly completedAt: string | null
}

/**
 * An account owns organizations and logs in.
 *
 * @category models
 * @since 0.1.0
 */
export interface Account {
  readonly id: string
  readonly object: "account"
  readonly email: string
  readonly createdAt: string
}

/**
 * An organization owns API keys, webhook endpoints and invoices.
 *
 * @category models
 * @since 0.1.0
 */
export interface Organization {
  readonly id: string
  readonly object: "organization"
  readonly name: string
  /** Whether a credential for the national system is stored, and when it was stored. */
  readonly gatewayCredential: {
    readonly present: boolean
    readonly updatedAt: string | null
  }
  readonly createdAt: string
}

/**
 * The credential of an organization for the national system. No response contains its secrets.
 *
 * @category models
 * @since 0.1.0
 */
export interface GatewayCredential {
  readonly object: "gateway_credential"
  /** Whether a credential is stored for the environment of the deployment. Otherwise, the other members are null. */
  readonly present: boolean
  /** The kind of a credential: a KSeF token, or a KSeF certificate with its private key. */
  readonly type: GatewayCredentialType | null
  /** On whose behalf invoices are submitted: the context of a login at KSeF. */
  readonly context: {
    /** `Nip`: a taxpayer. `InternalId`: a unit of a taxpayer. `NipVatUe`: a taxpayer and the entity of another EU member state that issues its invoices by self-billing. */
    readonly type: "Nip" | "InternalId" | "NipVatUe" | (string & {})
    /** Of `Nip`: ten digits, the last of which is a check digit. Of `InternalId`: the NIP, a hyphen and five digits, the last of which is a check digit, as `5265877635-12346`. Of `NipVatUe`: the NIP, a hyphen and the VAT number with its country, as `5265877635-DE123456789`. */
    readonly value: string
  } | null
  /** The environment of the national system: `test`, `demo`, `prod`, or the URL of another one. */
  readonly environment: string | null
  /** The time at which the credential expires. Null if it is not known. */
  readonly expiresAt: string | null
  /** `unchecked` until the first login with the credential, then `accepted` or `refused` by the national system. */
  readonly state: GatewayCredentialState | null
  /** The time of the last login with it. */
  readonly checkedAt: string | null
  /** Why the national system refused the credential. Null unless `state` is `refused`. */
  readonly refusal: {
    readonly code: string
    readonly message: string
  } | null
  /** The time at which it was stored. */
  readonly updatedAt: string | null
}

/**
 * The certificate with which an organization issues invoices offline. No response contains its private key.
 *
 * @category models
 * @since 0.1.0
 */
export interface OfflineCertificate {
  readonly object: "offline_certificate"
  /** Whether a certificate is stored for the environment of the deployment. Otherwise, the other members are null. */
  readonly present: boolean
  /** The environment of the national system: `test`, `demo`, `prod`, or the URL of another one. */
  readonly environment: string | null
  /** The serial number, in the hexadecimal digits that the second QR code contains. */
  readonly serialNumber: string | null
  /** The name of the subject, as RFC 4514 has it: `CN=Example,O=Example,C=PL`. */
  readonly subject: string | null
  readonly validFrom: string | null
  readonly validUntil: string | null
  /** `valid` until `valid_until`, then `expired`. */
  readonly state: OfflineCertificateState | null
  /** The time at which it was stored. */
  readonly updatedAt: string | null
}

/**
 * An API key. Only its hash is stored.
 *
 * @category models
 * @since 0.1.0
 */
export interface ApiKey {
  readonly id: string
  readonly object: "api_key"
  readonly organizationId: string
  readonly mode: Mode
  readonly name: string | null
  /** The last four characters of the key. */
  readonly last4: string
  readonly createdAt: string
  readonly expiresAt: string | null
}

/**
 * A new API key with its secret.
 *
 * @category models
 * @since 0.1.0
 */
export interface NewApiKey extends ApiKey {
  /** The key, `sk_test_…` or `sk_live_…`. Only this response contains it. */
  readonly secret: string
}

/**
 * A URL that receives events.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookEndpoint {
  readonly id: string
  readonly object: "webhook_endpoint"
  readonly organizationId: string
  readonly url: string
  readonly description: string | null
  readonly eventTypes: ReadonlyArray<"*" | EventType>
  readonly enabled: boolean
  /** Why the server switched the endpoint off: `failing`, after days in which every delivery failed. Null while it is on, or if its owner switched it off. */
  readonly disabledReason: "failing" | null
  /** The time of the first attempt that failed since the last one that succeeded. Null if the newest known attempt succeeded, and after the endpoint is switched on or off. */
  readonly failingSince: string | null
  /** Whether requests also carry the headers of Standard Webhooks. */
  readonly standardWebhooks: boolean
  /** The modes whose events it receives. */
  readonly modes: ReadonlyArray<Mode>
  /** The names of the endpoint's own headers, which requests carry. No response contains their values. */
  readonly headers: ReadonlyArray<string>
  /** How many requests may be under way to it at once. Null to use the organization's limit. */
  readonly maxInFlight: number | null
  /** The time from which a new signing secret signs. Null unless a rotation is pending. */
  readonly nextSecretAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

/**
 * A new webhook endpoint with its signing secret.
 *
 * @category models
 * @since 0.1.0
 */
export interface NewWebhookEndpoint extends WebhookEndpoint {
  /** The signing secret, `whsec_…`. The whole string is the HMAC key of `Gov-Signature`; the base64 after `whsec_` is the key of Standard Webhooks. Only this response contains it. */
  readonly secret: string
}

/**
 * A webhook endpoint with its new signing secret.
 *
 * @category models
 * @since 0.1.0
 */
export interface RotatedWebhookEndpoint extends WebhookEndpoint {
  /** The signing secret, `whsec_…`. The whole string is the HMAC key of `Gov-Signature`; the base64 after `whsec_` is the key of Standard Webhooks. Only this response contains it. */
  readonly secret: string
  readonly secretActivatesAt: string
}

/**
 * The delivery of one event to one endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookDelivery {
  readonly id: string
  readonly object: "webhook_delivery"
  readonly eventId: string
  readonly eventType: EventType
  readonly endpointId: string
  readonly status: DeliveryStatus
  /** The number of attempts. */
  readonly attemptCount: number
  /** The HTTP status of the last attempt. Null if it got no response, and before the first attempt. */
  readonly lastHttpStatus: number | null
  /** A sentence about the last failure. Null on success. */
  readonly lastErrorSummary: string | null
  /** The time of the next attempt. Null unless the delivery is retrying. */
  readonly nextRetryAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly lastAttemptedAt: string | null
  readonly deliveredAt: string | null
}

/**
 * The deliveries that were created in one interval.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeliveryBucket {
  readonly start: string
  /** Deliveries that were created in the interval. */
  readonly total: number
  /** Of them, those that are retrying. */
  readonly retrying: number
  /** Of them, those that failed. */
  readonly failed: number
  /** Of them, those that ended because the endpoint was disabled. */
  readonly endpointDisabled: number
  /** Whether there are more than was counted. */
  readonly capped: boolean
}

/**
 * The deliveries of a webhook endpoint over time. Counts stop at 10,000 per interval.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookDeliveryStats {
  readonly object: "webhook_delivery_stats"
  readonly endpointId: string
  /** The time to count over: 24 hours in intervals of an hour, or 7 days in intervals of six hours. */
  readonly window: StatisticsWindow
  /** The length of an interval, in seconds. */
  readonly bucketSeconds: number
  readonly generatedAt: string
  /** Unfinished records of any age, now. */
  readonly now: {
    /** Deliveries that are due: available, or in flight. */
    readonly waiting: number
    /** Deliveries that are retrying. */
    readonly retrying: number
  }
  /** The intervals, oldest first. The last is not over. */
  readonly buckets: ReadonlyArray<DeliveryBucket>
}

/**
 * What the owner of an organization should know.
 *
 * @category models
 * @since 0.1.0
 */
export interface OwnerNotice {
  /** `endpoint_failing`: no delivery to the endpoint has succeeded for six hours. `endpoint_disabled`: it was switched off because it only failed. `credential_expiring`, `offline_certificate_expiring`: within 30 days, or before. `token_login_ending`: the organization logs in with a token, for which the rules provide until 2026-12-31. */
  readonly type: OwnerNoticeType
  /** The endpoint that it is about, if it is. */
  readonly endpointId: string | null
  /** Since when the endpoint fails. */
  readonly since: string | null
  /** When the credential or the certificate expires. */
  readonly expiresAt: string | null
}

/**
 * The deliveries of the endpoints of an organization over time, and its invoices. Counts stop at 1,000.
 *
 * @category models
 * @since 0.1.0
 */
export interface OrganizationOverview {
  readonly object: "organization_overview"
  readonly organizationId: string
  /** The time to count over: 24 hours in intervals of an hour, or 7 days in intervals of six hours. */
  readonly window: StatisticsWindow
  /** The length of an interval, in seconds. */
  readonly bucketSeconds: number
  readonly generatedAt: string
  /** The endpoints that are not deleted, newest first. */
  readonly endpoints: ReadonlyArray<{
    readonly endpointId: string
    /** Deliveries that are due: available, or in flight. */
    readonly waiting: number
    /** Deliveries that are retrying. */
    readonly retrying: number
    /** Deliveries of the last 24 hours that failed. */
    readonly failed24h: number
    /** The intervals of the window, oldest first. The last is not over. */
    readonly buckets: ReadonlyArray<DeliveryBucket>
  }>
  /** Since when the oldest delivery is due that waits for the concurrency limit of the organization, because receivers are slow. Null if none does. */
  readonly limitedSince: string | null
  /** What the owner should know. */
  readonly notices: ReadonlyArray<OwnerNotice>
  readonly invoices: {
    /** Invoices that are retrying. */
    readonly retrying: number
    /** Invoices of the last 24 hours that were rejected. */
    readonly rejected24h: number
    /** Invoices of the last 24 hours that failed. */
    readonly failed24h: number
    /** Invoices of the last 24 hours that were accepted, among the newest 10,000. */
    readonly accepted24h: number
    /** Invoices that are queued, submitting, retrying or submitted, among the newest 10,000. */
    readonly inProgress: number
    /** The median time from the submission to the receipt (UPO), over the newest 100 invoices that have one. Null if none has. */
    readonly medianSecondsToUpo: number | null
  }
}

/**
 * The calls of one kind that the national system allows a taxpayer in an hour.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallLimit {
  /** The kind of calls, as the national system groups them. */
  readonly group: string
  /** Calls of the last hour. */
  readonly used: number
  /** Calls that an hour allows. Null if it is not limited. */
  readonly perHour: number | null
  /** Until when the national system refuses these calls. Null unless it does. */
  readonly blockedUntil: string | null
}

/**
 * The live mode of an organization. `gateway-credential` describes its credential.
 *
 * @category models
 * @since 0.1.0
 */
export interface LiveStatus {
  readonly object: "live_status"
  readonly organizationId: string
  /** Whether live keys of the organization can submit. */
  readonly available: boolean
  /** Whether the deployment submits to the national system. */
  readonly liveMode: boolean
  /** The environment of the deployment: `test`, `demo`, `prod`, or the URL of another one. Null without one. */
  readonly environment: string | null
  /** Live invoices that are not sent yet. */
  readonly waiting: {
    /** The number, at most 1,000. */
    readonly count: number
    /** The time of the oldest. */
    readonly oldestAt: string | null
    /** Why the oldest of those waits that have a `failure`. Null if none has. */
    readonly failure: {
      readonly code: string
      readonly message: string
    } | null
  }
  /** Live invoices that were sent and have no verdict yet, by the time of sending. */
  readonly undecided: {
    /** The number, at most 1,000. */
    readonly count: number
    /** The time of the oldest. */
    readonly oldestAt: string | null
    /** Why the oldest of those waits that have a `failure`. Null if none has. */
    readonly failure: {
      readonly code: string
      readonly message: string
    } | null
  }
  /** The calls that the taxpayer has used of its limits. Empty until the national system has accepted the credential. */
  readonly limits: ReadonlyArray<CallLimit>
}

/**
 * The input of `createAccount`.
 *
 * @category models
 * @since 0.1.0
 */
export interface NewAccount {
  /** An email address. Letter case is ignored. */
  readonly email: string
  /** 12 to 128 characters. */
  readonly password: string
}

/**
 * The input of `login`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Credentials {
  /** Text of 1 to 254 characters. */
  readonly email: string
  /** Text of 1 to 128 characters. */
  readonly password: string
}

/**
 * The input of `changePassword`.
 *
 * @category models
 * @since 0.1.0
 */
export interface PasswordChange {
  /** Text of 1 to 128 characters. */
  readonly currentPassword: string
  /** 12 to 128 characters. */
  readonly newPassword: string
}

/**
 * The input of `createOrganization`.
 *
 * @category models
 * @since 0.1.0
 */
export interface OrganizationRequest {
  /** Text of 1 to 200 characters. */
  readonly name: string
}

/**
 * The input of `updateOrganization`. Members that are left out are unchanged.
 *
 * @category models
 * @since 0.1.0
 */
export interface OrganizationChange {
  /** Text of 1 to 200 characters. */
  readonly name?: string | undefined
}

/**
 * A KSeF token, an input of `setGatewayCredential`.
 *
 * @category models
 * @since 0.1.0
 */
export interface KsefTokenCredential {
  readonly type?: "ksef_token" | undefined
  /** The KSeF token, complete with its separators. */
  readonly token: string
  /** On whose behalf invoices are submitted: the context of a login at KSeF. */
  readonly context: {
    /** `Nip`: a taxpayer. `InternalId`: a unit of a taxpayer. `NipVatUe`: a taxpayer and the entity of another EU member state that issues its invoices by self-billing. */
    readonly type: "Nip" | "InternalId" | "NipVatUe"
    /** Of `Nip`: ten digits, the last of which is a check digit. Of `InternalId`: the NIP, a hyphen and five digits, the last of which is a check digit, as `5265877635-12346`. Of `NipVatUe`: the NIP, a hyphen and the VAT number with its country, as `5265877635-DE123456789`. */
    readonly value: string
  }
  /** The time at which the token expires, ISO 8601 in UTC. Warnings are given before it. */
  readonly expiresAt?: string | null | undefined
}

/**
 * A KSeF certificate of the type Authentication with its private key, an input of `setGatewayCredential`.
 *
 * @category models
 * @since 0.1.0
 */
export interface CertificateCredential {
  readonly type: "certificate"
  /** The KSeF certificate of the type Authentication, in PEM. At most 16 KiB together with the key. */
  readonly certificate: string
  /** Its private key in PEM: RSA of 2048 to 4096 bits, or EC on the curve P-256. */
  readonly privateKey: string
  /** The password of the private key, if it is encrypted. It is not stored. */
  readonly privateKeyPassword?: string | null | undefined
  /** On whose behalf invoices are submitted: the context of a login at KSeF. */
  readonly context: {
    /** `Nip`: a taxpayer. `InternalId`: a unit of a taxpayer. `NipVatUe`: a taxpayer and the entity of another EU member state that issues its invoices by self-billing. */
    readonly type: "Nip" | "InternalId" | "NipVatUe"
    /** Of `Nip`: ten digits, the last of which is a check digit. Of `InternalId`: the NIP, a hyphen and five digits, the last of which is a check digit, as `5265877635-12346`. Of `NipVatUe`: the NIP, a hyphen and the VAT number with its country, as `5265877635-DE123456789`. */
    readonly value: string
  }
}

/**
 * The input of `setOfflineCertificate`: a KSeF certificate of the type Offline with its private key.
 *
 * @category models
 * @since 0.1.0
 */
export interface OfflineCertificateRequest {
  /** The KSeF certificate of the type Offline, in PEM, or in Base64 a PKCS#12 file that has its private key, too. Its key usage is non-repudiation. At most 16 KiB together with the key. */
  readonly certificate: string
  /** The private key in PEM: RSA of 2048 bits, or EC on the curve P-256. Left out for a PKCS#12 file. */
  readonly privateKey?: string | null | undefined
  /** The password of the private key, if it is encrypted. It is not stored. */
  readonly privateKeyPassword?: string | null | undefined
}

/**
 * The input of `createApiKey`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ApiKeyRequest {
  readonly mode: Known<Mode>
  /** A name for the key. */
  readonly name?: string | null | undefined
  /** The time at which the key expires, ISO 8601 in UTC. Null or missing: it does not expire. */
  readonly expiresAt?: string | null | undefined
}

/**
 * The input of `createWebhookEndpoint`.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookEndpointRequest {
  /** The URL that receives events. Must be https with a public address, unless the deployment allows others. */
  readonly url: string
  /** Any of the event types, or `["*"]` for all types, including types added later. */
  readonly eventTypes: ReadonlyArray<"*" | Known<EventType>>
  /** A note. */
  readonly description?: string | null | undefined
  /** Whether the endpoint receives events. Defaults to true for a new endpoint. */
  readonly enabled?: boolean | undefined
  /** Whether requests also carry `webhook-id`, `webhook-timestamp` and `webhook-signature` by the Standard Webhooks specification. Defaults to false for a new endpoint. */
  readonly standardWebhooks?: boolean | undefined
  /** The modes whose events the endpoint receives. Defaults to both for a new endpoint. */
  readonly modes?: ReadonlyArray<Known<Mode>> | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
  /** How many requests may be under way to the endpoint at once: 1 to the limit of the organization. Null, the default, uses that limit. */
  readonly maxInFlight?: number | null | undefined
}

/**
 * The input of `updateWebhookEndpoint`. Members that are left out are unchanged.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookEndpointChange {
  /** The URL that receives events. Must be https with a public address, unless the deployment allows others. */
  readonly url?: string | undefined
  /** Any of the event types, or `["*"]` for all types, including types added later. */
  readonly eventTypes?: ReadonlyArray<"*" | Known<EventType>> | undefined
  /** A note. */
  readonly description?: string | null | undefined
  /** Whether the endpoint receives events. Defaults to true for a new endpoint. */
  readonly enabled?: boolean | undefined
  /** Whether requests also carry `webhook-id`, `webhook-timestamp` and `webhook-signature` by the Standard Webhooks specification. Defaults to false for a new endpoint. */
  readonly standardWebhooks?: boolean | undefined
  /** The modes whose events the endpoint receives. Defaults to both for a new endpoint. */
  readonly modes?: ReadonlyArray<Known<Mode>> | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
  /** How many requests may be under way to the endpoint at once: 1 to the limit of the organization. Null, the default, uses that limit. */
  readonly maxInFlight?: number | null | undefined
}

/**
 * The input of `rotateWebhookSecret`.
 *
 * @category models
 * @since 0.1.0
 */
export interface SecretRotation {
  /** The delay until the new secret signs, in seconds. Defaults to 0. */
  readonly activatesInSeconds?: number | undefined
}

/**
 * The input of `setGatewayCredential`. Without `type`, it is a token.
 *
 * @category models
 * @since 0.1.0
 */
export type GatewayCredentialRequest = CertificateCredential | KsefTokenCredential
