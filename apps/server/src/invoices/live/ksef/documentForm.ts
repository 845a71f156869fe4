/** Finds the form (FA, FA_RR) that a document is of, by what its header names. */
import { FormCode } from "@govoice/ksef/protocol"

export type FormName = keyof typeof FormCode.formCodes

/** Returns the form of a document, or `undefined` where the national system takes none like it. */
export const formOf = (document: {
  readonly form_code: string | null
  readonly schema_version: string | null
}): FormName | undefined => {
  const name = document.form_code ?? ""
  if (!Object.hasOwn(FormCode.formCodes, name)) return undefined
  const form = FormCode.formCodes[name as FormName]
  return form.schemaVersion === document.schema_version ? (name as FormName) : undefined
}
