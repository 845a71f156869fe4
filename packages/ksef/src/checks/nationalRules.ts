/**
 * The rules of KSeF that its schemas do not contain.
 *
 * @since 0.1.0
 */
import * as DiscouragedCharacters from "../format/DiscouragedCharacters.ts"
import * as InternalId from "../format/InternalId.ts"
import * as Nip from "../format/Nip.ts"
import * as StrictXml from "../xml/StrictXml.ts"
import * as wellFormednessScan from "../xml/wellFormednessScan.ts"
import type { DocumentFields } from "./DocumentFields.ts"
import type { InvoiceForm } from "./InvoiceForms.ts"
import { maxShown, quoted, type Report, type Violation, type Warning } from "./Violation.ts"

/**
 * The inputs of the rules beside the document.
 *
 * @category models
 * @since 0.1.0
 */
export interface RuleOptions {
  /** The day in Poland, `YYYY-MM-DD`. */
  readonly today: string
  readonly environment: "custom" | "demo" | "prod" | "test"
}

/**
 * The first `maxShown` violations, and how many there are in all. Production takes discouraged characters, with a warning.
 *
 * @category models
 * @since 0.1.0
 */
export type RuleViolations = Pick<Report, "count" | "violations" | "warnings">

// The schema tells what is not a date.
const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

/**
 * Returns the violations of a well-formed document.
 *
 * @category getters
 * @since 0.1.0
 */
export const violations = (
  xml: string,
  form: InvoiceForm,
  fields: DocumentFields,
  { environment, today }: RuleOptions
): RuleViolations => {
  const found: Array<{ readonly index: number; readonly message: string; readonly path: string | undefined }> = []
  const at = (index: number, message: string, path?: string) => ({ index, message, path })
  const warnings: Array<Warning> = []
  if (xml.startsWith("\uFEFF")) found.push(at(0, "the document begins with a byte order mark (U+FEFF); remove it"))
  const instruction = wellFormednessScan.processingInstruction(xml)
  if (instruction !== undefined) {
    found.push(at(instruction, "processing instructions (<?…?>) are not allowed; remove it"))
  }
  const discouraged = DiscouragedCharacters.search(xml)
  if (discouraged !== -1) {
    const code = xml.codePointAt(discouraged)!.toString(16).toUpperCase().padStart(4, "0")
    const character = `the character U+${code}`
    if (environment !== "prod") found.push(at(discouraged, `${character} is not allowed; remove it`))
    else {
      warnings.push({
        ...StrictXml.positionAt(xml, discouraged),
        code: "discouraged_character",
        path: undefined,
        message: `${character} is discouraged; remove it`,
        source: "weryfikacja-faktury.md"
      })
    }
  }
  const { identifiers, issueDate } = fields
  if (issueDate !== undefined && isDate(issueDate.text) && issueDate.text > today) {
    const message = `the date of issue ${issueDate.text} is later than today in Poland, ${today}`
    found.push(at(issueDate.index, message, `Faktura/${form.issueDate}`))
  }
  for (const { index, path, text } of identifiers) {
    // The schema tells what does not have the form.
    if (/^\d{10}$/.test(text) && !Nip.isValid(text)) {
      found.push(at(index, `${quoted(text)} is not a NIP: its check digit is wrong`, path))
    }
    if (/^\d{10}-\d{5}$/.test(text) && !InternalId.isValid(text)) {
      found.push(at(index, `${quoted(text)} is not an internal identifier: a check digit is wrong`, path))
    }
  }
  // A position takes time in proportion to its index, so only violations that are shown get one.
  const shown = found.slice(0, maxShown).map(({ index, message, path }): Violation => ({
    ...StrictXml.positionAt(xml, index),
    path,
    message
  }))
  return { violations: shown, count: found.length, warnings }
}
