/**
 * What a person knows of an invoice: its numbers, its buyer and seller, its metadata as `order=4711`, its idempotency key.
 */

/** The names, each a parameter of the list of invoices. */
export const invoiceNames = ["number", "official", "buyer", "seller", "metadata", "key"] as const

export type InvoiceName = (typeof invoiceNames)[number]

const officialNumber = /^\d{10}-\d{8}-[0-9A-F]{12}-[0-9A-F]{2}$/i

/** Whether the text is a key and a value of metadata. */
export const isMetadata = (text: string): boolean => /^[^=]{1,40}=[^]{1,500}$/.test(text)

/** Returns the names that a text may stand for, the likeliest first. */
export const namesOf = (text: string): ReadonlyArray<InvoiceName> => {
  if (officialNumber.test(text)) return ["official"]
  if (isMetadata(text)) return ["metadata", "number", "key"]
  return /^\d{10}$/.test(text) ? ["buyer", "seller", "number", "key"] : ["number", "buyer", "key"]
}

/** Returns the key and the value of metadata. */
export const metadataOf = (text: string): Readonly<Record<string, string>> => {
  const [key = "", ...value] = text.split("=")
  return { [key]: value.join("=") }
}
