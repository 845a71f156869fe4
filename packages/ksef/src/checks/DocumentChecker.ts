/**
 * Checks an invoice document before it is sent: XML and form first, then the rules of KSeF and the schema together.
 *
 * What KSeF takes and the rules of accounting do not is a warning. Whether the sender may issue the invoice, and duplicates, KSeF
 * decides.
 *
 * @since 0.1.0
 */
import * as StrictXml from "../xml/StrictXml.ts"
import * as accountingRules from "./accountingRules.ts"
import * as DocumentFields from "./DocumentFields.ts"
import * as ElementLocator from "./ElementLocator.ts"
import { checkedForms, type InvoiceForm, otherForm } from "./InvoiceForms.ts"
import * as InvoiceContent from "./InvoiceContent.ts"
import * as nationalRules from "./nationalRules.ts"
import * as schemaMessages from "./schemaMessages.ts"
import * as SchemaModel from "./SchemaModel.ts"
import * as SchemaValidator from "./SchemaValidator.ts"
import { maxShown, maxWarnings, quoted, type Report, type Violation } from "./Violation.ts"

/**
 * The inputs of a check beside the document. FA (2) passes in the test environment, unchecked.
 *
 * @category models
 * @since 0.1.0
 */
export type CheckOptions = nationalRules.RuleOptions

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
      const contentVisitor = InvoiceContent.makeVisitor()
      const malformed = StrictXml.read(xml, both(visitor, contentVisitor), limits)
      if (malformed !== undefined) return report(undefined, [{ ...malformed, path: undefined }])
      const fields = visitor.fields()
      const form = formOf(fields)
      if (form === undefined) {
        const isFa2 = otherForm(fields.root.namespace) === "FA (2)"
        return report(undefined, isFa2 && options.environment === "test" ? [] : [notAccepted(xml, fields)])
      }
      const broken = nationalRules.violations(xml, form, fields, options)
      const faults = validator.validate(form.schema, xml)
      const bySchema = faults.count === 0 ? [] : schemaViolations(xml, form, faults, modelOf(form))
      const advice = accountingRules.warnings(xml, contentVisitor.content(), options.today)
      return {
        form: form.systemCode,
        violations: [...broken.violations, ...bySchema].toSorted(byPosition).slice(0, maxShown),
        count: broken.count + faults.count,
        warnings: [...broken.warnings, ...advice].toSorted(byPosition).slice(0, maxWarnings)
      }
    }
  }
}

// libxml2 repeats namespaces and prefixes in the message of each fault: 10,000 times 60 kB would exhaust the memory. The pieces of a text it
// puts together in time that grows with their square: 400,000 would take ten seconds.
const limits: StrictXml.Limits = {
  maxElements: Infinity,
  maxAttributes: Infinity,
  maxNamespaceLength: 200,
  maxTextPieces: 1000
}

const report = (form: InvoiceForm | undefined, violations: ReadonlyArray<Violation>): Report => ({
  form: form?.systemCode,
  violations: violations.slice(0, maxShown),
  count: violations.length,
  warnings: []
})

const byPosition = (left: Violation, right: Violation): number => left.line - right.line || left.column - right.column

const both = (first: StrictXml.Visitor, second: StrictXml.Visitor): StrictXml.Visitor => ({
  open: (element) => {
    first.open(element)
    second.open(element)
  },
  text: (text) => {
    first.text(text)
    second.text(text)
  },
  close: () => {
    first.close()
    second.close()
  }
})

const schemaViolations = (
  xml: string,
  form: InvoiceForm,
  { shown }: SchemaValidator.SchemaFaults,
  model: SchemaModel.SchemaModel
): ReadonlyArray<Violation> => {
  const elements = ElementLocator.locate(
    xml,
    shown.flatMap(({ xpath }) => xpath ?? [])
  )
  return shown.map((fault): Violation => {
    const element = elements.get(fault.xpath ?? "")
    const position = element === undefined ? { line: fault.line, column: 1 } : StrictXml.positionAt(xml, element.index)
    const description = element && model.find(element.names)?.description
    const path = description === undefined ? element?.path : `${element!.path} (${description})`
    return { ...position, path, message: schemaMessages.sentence(fault, element, form, model) }
  })
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
