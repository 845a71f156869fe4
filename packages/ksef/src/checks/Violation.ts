/**
 * A fault of a document, and its position.
 *
 * @since 0.1.0
 */
import type * as StrictXml from "../xml/StrictXml.ts"

/**
 * One violation. `message` is a sentence without its subject, which is `path`, or the document where there is no path.
 *
 * @category models
 * @since 0.1.0
 */
export interface Violation extends StrictXml.Position {
  /** The element that it is about: `Faktura/Fa/FaWiersz[2]/P_9A`. */
  readonly path: string | undefined
  readonly message: string
}

/**
 * What a warning is about.
 *
 * @category models
 * @since 0.1.0
 */
export type WarningCode =
  | "account_number_wrong"
  | "buyer_nip_misplaced"
  | "corrected_invoice_missing"
  | "corrected_number_missing"
  | "discouraged_character"
  | "exchange_rate_missing"
  | "issue_date_past"
  | "issuer_repeated"
  | "line_number_missing"
  | "line_number_repeated"
  | "lines_differ"
  | "recipient_missing"
  | "tax_differs"
  | "total_differs"

/**
 * What KSeF takes, and the seller should look at. `source` names the text that has the rule.
 *
 * @category models
 * @since 0.1.0
 */
export interface Warning extends Violation {
  readonly code: WarningCode
  readonly source: string
}

/**
 * The result of a check: at most `maxShown` violations, and how many there are in all; at most `maxWarnings` warnings.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  /** The form of the document, `undefined` when it is none of those that are checked. */
  readonly form: string | undefined
  readonly violations: ReadonlyArray<Violation>
  readonly count: number
  readonly warnings: ReadonlyArray<Warning>
}

/**
 * How many violations are reported.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxShown = 5

/**
 * How many warnings are reported.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxWarnings = 20

/**
 * Formats a report as one text, or returns `undefined` when there is no violation.
 *
 * @category formatting
 * @since 0.1.0
 */
export const format = ({ count, form, violations }: Omit<Report, "warnings">): string | undefined => {
  const [first] = violations
  if (first === undefined) return undefined
  const subject = form === undefined ? "invoice_xml" : `invoice_xml is not a valid ${form} document`
  if (count === 1) return `${subject}: ${line(first)}`
  const shown = violations.map((violation, index) => `(${index + 1}) ${line(violation)}`).join(" ")
  const rest = count - violations.length
  return `${subject}: ${count} violations. ${shown}${rest === 0 ? "" : ` ${rest} more ${rest === 1 ? "is" : "are"} not shown.`}`
}

/**
 * Formats one violation: line, column, path and message.
 *
 * @category formatting
 * @since 0.1.0
 */
export const line = ({ column, line: number, message, path }: Violation): string =>
  `line ${number}, column ${column}${path === undefined ? "" : `, ${path}`}: ${message}.`

/**
 * Escapes what a terminal or a log would interpret, or a reader would not see: line breaks, control characters, invisible
 * characters, and every space but U+0020.
 *
 * @category formatting
 * @since 0.1.0
 */
export const escaped = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (character) => {
    const code = character.codePointAt(0)!.toString(16).toUpperCase()
    return shortEscapes.get(character) ?? `\\u{${code}}`
  })

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\n", String.raw`\n`],
  ["\r", String.raw`\r`],
  ["\t", String.raw`\t`]
])

/**
 * Quotes a value of the document, with `escaped`. A long one is cut.
 *
 * @category formatting
 * @since 0.1.0
 */
export const quoted = (value: string): string => {
  const longest = 60
  const characters = Array.from(value.slice(0, longest * 2 + 2))
  const shown = characters.length > longest ? `${characters.slice(0, longest).join("")}…` : value
  return `"${escaped(shown)}"`
}
