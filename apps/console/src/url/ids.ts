/**
 * Identifiers of the API: their kinds, the time that they carry, and a short form.
 */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

/** The prefixes of identifiers that have a place in the console. */
export const kinds = ["org", "key", "inv", "evt", "we", "wd"] as const

export type IdKind = (typeof kinds)[number]

const pattern = /^([a-z]+)_([0-9a-hjkmnp-tv-z]{26})$/

/** Returns the kind of an identifier, or undefined if the text is none. */
export const kindOf = (text: string): IdKind | undefined => {
  const prefix = pattern.exec(text)?.[1]
  return kinds.find((kind) => kind === prefix)
}

/** Returns whether the text is an identifier of this kind. */
export const isId = (kind: IdKind, text: string): boolean => kindOf(text) === kind

/** Returns the time at which an identifier was made, in milliseconds. Its first 48 bits are a Unix time. */
export const timeOf = (id: string): number | undefined => {
  const digits = pattern.exec(id)?.[2]
  if (digits === undefined) return undefined
  // 26 digits have 130 bits, of which the first two are zero: ten digits are the 48 bits of the time.
  let time = 0
  for (const digit of digits.slice(0, 10)) time = time * 32 + alphabet.indexOf(digit)
  return time
}

/** Shortens an identifier in the middle: `inv_01m7q5…m4k3`. */
export const shorten = (id: string): string =>
  id.length > 18 ? `${id.slice(0, id.indexOf("_") + 7)}…${id.slice(-4)}` : id
