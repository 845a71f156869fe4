/**
 * The numbers, dates, links and documents of KSeF as text. Pure: no I/O, no clock, no randomness.
 *
 * @module
 * @since 0.1.0
 */
export * as ContextIdentifier from "./format/ContextIdentifier.ts"
export * as Crc8 from "./format/Crc8.ts"
export * as DiscouragedCharacters from "./format/DiscouragedCharacters.ts"
export * as InternalId from "./format/InternalId.ts"
export * as InvoiceHeader from "./format/InvoiceHeader.ts"
export * as KsefNumber from "./format/KsefNumber.ts"
export * as Nip from "./format/Nip.ts"
export * as PolishTime from "./format/PolishTime.ts"
export * as ReferenceNumber from "./format/ReferenceNumber.ts"
export * as Upo from "./format/Upo.ts"
export * as VerificationLink from "./format/VerificationLink.ts"
export * as XmlValues from "./format/XmlValues.ts"
export * as WorkingDays from "./format/WorkingDays.ts"
