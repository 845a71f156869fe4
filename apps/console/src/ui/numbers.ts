/**
 * Counts and amounts, as the language of the reader writes them.
 */
import { texts } from "../text/texts.ts"

const format = new Intl.NumberFormat(texts.locale)

/** A number: `12,000`. */
export const number = (value: number): string => format.format(value)

/** A count that the server ends: at 1,000 where nothing else is given. */
export const count = (value: number, most = 1000): string => (value >= most ? `${number(most)}+` : number(value))

/** An amount with its currency: `PLN 1,230.00`. A text that is no amount stays as it is. */
export const amount = (value: string, currency: string | null): string => {
  if (!/^-?\d+(?:\.\d+)?$/.test(value)) return [value, currency].filter(Boolean).join(" ")
  const options = { minimumFractionDigits: 2, maximumFractionDigits: 8 }
  const known = currency !== null && /^[A-Z]{3}$/.test(currency)
  const form = new Intl.NumberFormat(texts.locale, known ? { ...options, style: "currency", currency } : options)
  // As text, so that no digit is lost.
  const shown = form.format(value as `${number}`)
  return known ? shown : [shown, currency].filter(Boolean).join(" ")
}
