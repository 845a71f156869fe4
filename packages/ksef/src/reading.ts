/**
 * Reads invoice documents as a person does: parties, lines, taxes, payment, notes, with names in Polish and English. It runs in
 * browsers, too.
 *
 * @module
 * @since 0.1.0
 */
export * as InvoiceReading from "./reading/InvoiceReading.ts"
