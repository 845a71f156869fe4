/**
 * The contexts of logins at KSeF, as far as the page checks them: the service checks the rest.
 *
 * The check digit of a NIP is a copy of that of `@govoice/api`, which the page does not load; `copies.test.ts` of the server
 * compares them.
 */

/** The types of contexts. */
export const contextTypes = ["Nip", "InternalId", "NipVatUe"] as const

/** The type of a context. */
export type ContextType = (typeof contextTypes)[number]

const weights = [6, 5, 7, 2, 3, 4, 5, 6, 7]

/** Returns whether the text is a NIP: ten digits, the last of which is a check digit. */
export const isNip = (text: string): boolean =>
  /^\d{10}$/.test(text) &&
  weights.reduce((sum, weight, index) => sum + weight * Number(text[index]), 0) % 11 === Number(text[9])

const afterNip = { Nip: /^$/, InternalId: /^-\d{5}$/, NipVatUe: /^-[A-Z]{2}[0-9A-Z+*]{2,13}$/ } as const

/** Returns whether the text has the form of a context of the type. */
export const isContext = (type: ContextType, text: string): boolean =>
  isNip(text.slice(0, 10)) && afterNip[type].test(text.slice(10))

/** Returns what was typed without what people put between digits. */
export const tidied = (type: ContextType, text: string): string =>
  type === "Nip" ? text.replaceAll(/[\s-]/g, "") : text.replaceAll(/\s/g, "").toUpperCase()
