/** The QR codes that the seller prints on an invoice. */
import type { Invoice } from "@govoice/core"
import * as QrCode from "./QrCode.ts"

/** Which code, and how it is drawn: the members of the request. */
export interface CodeRequest {
  readonly code?: "1" | "2"
  readonly format?: QrCode.Format
  readonly label?: "true" | "false"
}

/** Returns the codes of an invoice with the texts that belong below them. */
export const codesOf = ({
  verification
}: Pick<Invoice.Invoice, "verification">): ReadonlyArray<{ readonly text: string; readonly label: string }> =>
  verification === null ? [] : [first(verification), second(verification)].filter((code) => code !== null)

/** Draws the first code (KOD I) or the second (KOD II, of an invoice issued offline). `undefined` if the invoice has none. */
export const draw = (
  { verification }: Pick<Invoice.Invoice, "verification">,
  { code = "1", format = "svg", label = "true" }: CodeRequest
): { readonly bytes: Uint8Array; readonly contentType: string } | undefined => {
  const found = verification && (code === "1" ? first(verification) : second(verification))
  if (found === null) return undefined
  const bytes = QrCode.draw({ text: found.text, label: label === "true" ? found.label : undefined }, format)
  return { bytes, contentType: QrCode.contentTypes[format] }
}

const first = ({ label, url }: Invoice.Verification) => ({ text: url, label })

const second = ({ certificate_url: url }: Invoice.Verification) =>
  url === null ? null : { text: url, label: "CERTYFIKAT" }
