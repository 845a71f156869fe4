import type { Invoice } from "@govoice/client"
import { amount } from "../../ui/numbers.ts"

/** Returns the total of a document with its currency, as the language of the reader writes it. No digit is lost. */
export const totalOf = ({ currency, total }: NonNullable<Invoice["document"]>): string | null =>
  total && amount(total, currency)
