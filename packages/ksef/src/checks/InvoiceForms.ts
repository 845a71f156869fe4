/**
 * The forms whose documents are checked, and the forms that are known but not accepted.
 *
 * @since 0.1.0
 */
import { type FormCode, formCodes } from "../protocol/FormCode.ts"
import type { SchemaFile } from "../schemas.ts"

/**
 * A form that is checked against its schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvoiceForm extends FormCode {
  readonly schema: SchemaFile
  /** The path of the date of issue, below the root. */
  readonly issueDate: string
}

/**
 * The forms that are checked: invoices, and invoices of flat-rate farmers.
 *
 * @category constants
 * @since 0.1.0
 */
export const checkedForms: ReadonlyArray<InvoiceForm> = [
  { ...formCodes["FA (3)"], schema: "schemat_FA(3)_v1-0E.xsd", issueDate: "Fa/P_1" },
  { ...formCodes["FA_RR (1)"], schema: "schemat_FA_RR(1)_v1-1E.xsd", issueDate: "FakturaRR/P_4B" }
]

/**
 * Returns the form that a namespace belongs to and that cannot be sent, or `undefined` for a namespace that is not known.
 *
 * @category getters
 * @since 0.1.0
 */
export const otherForm = (namespace: string): string | undefined => otherForms.get(namespace)

const otherForms: ReadonlyMap<string, string> = new Map([
  [formCodes["FA (2)"].namespace, "FA (2)"],
  ["http://crd.gov.pl/wzor/2021/11/29/11089/", "FA (1)"],
  ["urn:oasis:names:specification:ubl:schema:xsd:Invoice-2", "PEF (3)"],
  ["urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2", "PEF_KOR (3)"]
])
