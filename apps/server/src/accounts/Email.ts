/**
 * Email addresses as the server compares them: without surrounding white space and without letter case.
 *
 * Accounts are stored and throttled by the normalized address alone. Its type is what keeps an address that was not
 * normalized from reaching either.
 */
import type { Brand } from "effect"

/** An email address in the form that is stored and compared. */
export type Email = string & Brand.Brand<"@govoice/server/accounts/Email">

/** Normalizes an email address. */
export const normalize = (address: string): Email => address.trim().toLowerCase() as Email
