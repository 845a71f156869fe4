import type { InvoiceReading } from "@govoice/ksef/reading"
import { documentTexts } from "../../../text/document.ts"
import { texts } from "../../../text/texts.ts"
import { classNames } from "../../../ui/classNames.ts"
import { dayOf } from "../../../ui/times.ts"
import styles from "./Document.module.css"

const css = classNames(styles)

const language = texts.locale.startsWith("pl") ? "pl" : "en"

/** The texts about documents, in the language of the page. */
export const words: (typeof documentTexts)["en"] | (typeof documentTexts)["pl"] = documentTexts[language]

/** A label as text, in the language of the page. */
export const textOf = (label: InvoiceReading.Label): string => label[language]

/** A label: in an English page, with the Polish word that stands in the schema beside it. */
export const Words = ({ label }: { readonly label: InvoiceReading.Label }) =>
  language === "pl" || label.pl === label.en ? (
    label[language]
  ) : (
    <>
      {label.en}{" "}
      <span lang="pl" className={css("polish")}>
        {label.pl}
      </span>
    </>
  )

/** A number as the language of the page writes it, with the digits of the document. Other texts stay as they are. */
export const numberOf = (value: string): string => {
  const match = /^-?\d+(?:\.(\d+))?$/.exec(value)
  if (match === null) return value
  const digits = Math.min(match[1]?.length ?? 0, 20)
  return new Intl.NumberFormat(texts.locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    // As text, so that no digit is lost.
    value as `${number}`
  )
}

/** The value of a fact. */
export const valueOf = ({ meaning, type, value }: InvoiceReading.Fact): string => {
  if (meaning !== undefined) return textOf(meaning)
  return type === "number" ? numberOf(value) : type === "date" ? dayOf(value) : value
}
