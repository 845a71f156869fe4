/**
 * Checks an invoice document before it is sent: XML, form, the rules of KSeF, schema. The first stage that finds anything
 * ends the check.
 *
 * Sums are not checked, nor whether the sender may issue the invoice, nor duplicates: KSeF decides those.
 *
 * @since 0.1.0
 */
import * as StrictXml from "../xml/StrictXml.ts"
import * as DocumentFields from "./DocumentFields.ts"
import * as ElementLocator from "./ElementLocator.ts"
import { checkedForms, type InvoiceForm, otherForm } from "./InvoiceForms.ts"
import * as nationalRules from "./nationalRules.ts"
import * as schemaMessages from "./schemaMessages.ts"
import * as SchemaModel from "./SchemaModel.ts"
import * as SchemaValidator from "./SchemaValidator.ts"
import { maxShown, quoted, type Report, type Violation } from "./Violation.ts"

/**
 * The inputs of a check beside the document.
 *
 * @category models
 * @since 0.1.0
 */
export interface CheckOptions extends nationalRules.RuleOptions {
  /** Whether FA (2) passes, unchecked. It does in the test environment only. */
  readonly acceptsFa2: boolean
}

/**
 * Checks documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface DocumentChecker {
  readonly check: (xml: string, options: CheckOptions) => Report
}

/**
 * Loads the schemas, which takes about 200 ms.
 *
 * @category constructors
 * @since 0.1.0
 */
export const load = async (): Promise<DocumentChecker> => {
  const validator = await SchemaValidator.load(checkedForms.map(({ schema }) => schema))
  const models = new Map<InvoiceForm, SchemaModel.SchemaModel>()
  // Read with the first fault, since valid documents do not need it.
  const modelOf = (form: InvoiceForm): SchemaModel.SchemaModel => {
    const known = models.get(form) ?? SchemaModel.read(form.schema)
    models.set(form, known)
    return known
  }

  return {
    check: (xml, options) => {
      const visitor = DocumentFields.makeVisitor()
      const malformed = StrictXml.read(xml, visitor, limits)
      if (malformed !== undefined) return report(undefined, [{ ...malformed, path: undefined }])
      const fields = visitor.fields()
      const form = formOf(fields)
      if (form === undefined) {
        const isFa2 = otherForm(fields.root.namespace) === "FA (2)"
        return report(undefined, isFa2 && options.acceptsFa2 ? [] : [notAccepted(xml, fields)])
      }
      const broken = nationalRules.violations(xml, form, fields, options)
      if (broken.count > 0) return { form: form.systemCode, ...broken }
      const faults = validator.validate(form.schema, xml)
      return faults.count === 0 ? report(form, []) : schemaReport(xml, form, faults, modelOf(form))
    }
  }
}

// libxml2 repeats namespaces and prefixes in the message of each fault: 10,000 times 60 kB would exhaust the memory.
const limits: StrictXml.Limits = { maxElements: Infinity, maxAttributes: Infinity, maxNamespaceLength: 200 }

const report = (form: InvoiceForm | undefined, violations: ReadonlyArray<Violation>): Report => ({
  form: form?.systemCode,
  violations: violations.slice(0, maxShown),
  count: violations.length
})

const schemaReport = (
  xml: string,
  form: InvoiceForm,
  { count, shown }: SchemaValidator.SchemaFaults,
  model: SchemaModel.SchemaModel
): Report => {
  const elements = ElementLocator.locate(
    xml,
    shown.flatMap(({ xpath }) => xpath ?? [])
  )
  const violations = shown.map((fault): Violation => {
    const element = elements.get(fault.xpath ?? "")
    const position = element === undefined ? { line: fault.line, column: 1 } : StrictXml.positionAt(xml, element.index)
    const description = element && model.find(element.names)?.description
    const path = description === undefined ? element?.path : `${element!.path} (${description})`
    return { ...position, path, message: schemaMessages.sentence(fault, element, form, model) }
  })
  return { form: form.systemCode, violations, count }
}

const formOf = ({ root }: DocumentFields.DocumentFields): InvoiceForm | undefined =>
  root.name === "Faktura" ? checkedForms.find(({ namespace }) => namespace === root.namespace) : undefined

const accepted = checkedForms.map(({ namespace, systemCode }) => `${systemCode} with xmlns="${namespace}"`).join(" or ")

const notAccepted = (xml: string, { root }: DocumentFields.DocumentFields): Violation => {
  const other = otherForm(root.namespace)
  const found =
    other === undefined
      ? root.namespace === ""
        ? "the root element has no namespace"
        : checkedForms.some(({ namespace }) => namespace === root.namespace)
          ? "the root element must be Faktura"
          : `the namespace ${quoted(root.namespace)} is not known`
      : `${other} is not accepted`
  return {
    ...StrictXml.positionAt(xml, root.index),
    path: ElementLocator.shortName(root.name),
    message: `${found}; send ${accepted}`
  }
}
