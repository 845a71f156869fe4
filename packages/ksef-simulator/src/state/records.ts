/**
 * The records of a simulator. Every record is a plain value that JSON can hold; an update replaces the whole record. Times
 * are milliseconds since the epoch.
 */
import type { OperationName, OutsideOperationName } from "../openapi/operations.ts"
import type { Place } from "./Files.ts"

/** Rights in a context, as tokens carry them. */
export const permissions = [
  "InvoiceRead",
  "InvoiceWrite",
  "CredentialsRead",
  "CredentialsManage",
  "SubunitManage",
  "EnforcementOperations",
  "Introspection",
  "CollectiveIdentifierManage"
] as const

/** One of the rights. */
export type Permission = (typeof permissions)[number]

/** The acting party: the author of a token, or the subject of a certificate. */
export interface Subject {
  readonly type: "Nip" | "Pesel" | "Fingerprint"
  readonly value: string
}

/** A key pair of the simulated Ministry. */
export interface EncryptionKey {
  readonly id: string
  readonly certificateId: string
  readonly usage: "KsefTokenEncryption" | "SymmetricKeyEncryption"
  /** DER in Base64. */
  readonly certificate: string
  /** PKCS#8 in PEM. */
  readonly privateKey: string
  readonly validFrom: number
  readonly validTo: number
  /**
   * `listed`: published and usable. `withdrawn`: its id is refused. `unreadable`: its id is taken, and nothing that was
   * encrypted for it can be decrypted.
   */
  readonly state: "listed" | "withdrawn" | "unreadable"
}

/** A KSeF token. */
export interface KsefToken {
  readonly reference: string
  /** The whole token, as its owner got it. */
  readonly secret: string
  /** The value of its context. */
  readonly context: string
  readonly author: Subject
  readonly permissions: ReadonlyArray<Permission>
  readonly description: string
  readonly createdAt: number
  readonly activeAt: number
  readonly lastUsedAt: number | null
  readonly revoked: boolean
}

/** A request for a certificate, and the certificate that was issued for it. */
export interface Enrollment {
  readonly reference: string
  readonly serialNumber: string
  /** Whose certificate it is. */
  readonly subject: Subject
  readonly commonName: string
  readonly name: string
  readonly type: "Authentication" | "Offline"
  readonly requestedAt: number
  /** From when the certificate shows. */
  readonly issuedAt: number
  readonly validFrom: number
  readonly validTo: number
  readonly revoked: boolean
}

/** Addresses from which an access token may be used, as ranges of IPv4 addresses in numbers. */
export type AddressPolicy = ReadonlyArray<readonly [from: number, to: number]>

/** A status as the API writes it. */
export interface Status {
  readonly code: number
  readonly details?: ReadonlyArray<string>
}

/** An operation of authentication, and the login that came of it. */
export interface Login {
  readonly reference: string
  readonly contextType: string
  /** The value of the context, whose form tells the type. */
  readonly context: string
  readonly method: "token" | "certificate"
  readonly subject: Subject
  readonly permissions: ReadonlyArray<Permission>
  readonly tokenReference: string | null
  /** SHA-256 of the signed document, in Base64. */
  readonly documentHash: string | null
  /** The certificate that signed it: DER in Base64. */
  readonly certificate: string | null
  readonly startedAt: number
  readonly decidedAt: number
  readonly status: Status
  readonly redeemed: boolean
  readonly refreshedAt: number | null
  readonly refreshValidUntil: number | null
  readonly revoked: boolean
  /** Access tokens issued before this time have expired. */
  readonly accessFrom: number
  readonly addresses: AddressPolicy | null
}

/** A part of a batch, as the opening request declared it. */
export interface Part {
  readonly ordinal: number
  readonly size: number
  readonly hash: string
  /** The uploaded bytes. */
  readonly uploaded: { readonly size: number; readonly hash: string } | null
}

/** A session of sending, interactive or batch. */
export interface Session {
  readonly reference: string
  readonly kind: "online" | "batch"
  readonly context: string
  readonly login: string
  readonly subject: Subject
  readonly form: FormName
  readonly createdAt: number
  readonly updatedAt: number
  readonly validUntil: number
  /** The AES key in Base64, or null where it could not be decrypted. */
  readonly key: string | null
  readonly vector: string
  readonly offline: boolean
  readonly checksNips: boolean
  readonly closedAt: number | null
  /** Set by a fault: the session is not found any more. */
  readonly gone: boolean
  /** The code of a session that failed as a whole, or that a fault decided. */
  readonly failure: Status | null
  readonly batch: Batch | null
  readonly upo: ReadonlyArray<string>
}

/** The members of batches alone. */
export interface Batch {
  readonly size: number
  readonly hash: string
  readonly compression: "Zip" | "TarGz"
  readonly parts: ReadonlyArray<Part>
  /** Whether the archive was read to its end. */
  readonly processed: boolean
}

/** A structure of invoices that is accepted. */
export type FormName = "FA (3)" | "FA_RR (1)"

/** The header of a document, as the document states it. */
export interface Header {
  readonly sellerNip: string
  /** Null where the buyer has none. */
  readonly buyerNip: string | null
  readonly kind: string
  readonly number: string
  /** `YYYY-MM-DD`. */
  readonly issueDate: string
}

/** The verdict about a document. */
export interface Verdict extends Status {
  readonly extensions?: Readonly<Record<string, string>>
}

/** A document that was sent, from its reception on. */
export interface Invoice {
  readonly reference: string
  readonly session: string
  readonly ordinal: number
  /** SHA-256 in Base64, as declared (interactive) or as found (batch). */
  readonly hash: string
  /** As declared (interactive) or as found (batch). */
  readonly size: number
  readonly fileName: string | null
  readonly receivedAt: number
  readonly offline: boolean
  readonly correctedHash: string | null
  /** The decrypted document, or null where it could not be decrypted. */
  readonly document: Place | null
  readonly verdict: Verdict | null
  /** From when the verdict shows. */
  readonly visibleAt: number
  /** The fault that keeps it at 150, and for how many answers more; null for as long as the fault is there. */
  readonly held: { readonly fault: number; readonly polls: number | null } | null
  readonly header: Header | null
  readonly ksefNumber: string | null
  readonly acceptedAt: number | null
}

/** One call. Times are milliseconds since the epoch. */
export interface LedgerCall {
  /** Counts up from 1. */
  readonly id: number
  readonly startedAt: number
  readonly endedAt: number
  /** The name of the operation, or method and path where it has none. */
  readonly operation: OperationName | OutsideOperationName | (string & {})
  readonly method: string
  readonly path: string
  /** The context of the caller, where one was known. */
  readonly context: string | null
  readonly address: string
  /** The status that was answered, or null where the connection was cut. */
  readonly status: number | null
  /** The fault that changed this call. */
  readonly fault: string | null
  /** Whether it came while its window was full. */
  readonly overLimit: boolean
}
