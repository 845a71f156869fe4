/**
 * Sentences for elements that are missing, unknown, repeated, or out of order.
 *
 * @since 0.1.0
 */
import type { LocatedElement } from "./ElementLocator.ts"
import type { InvoiceForm } from "./InvoiceForms.ts"
import type { ElementDeclaration, SchemaModel } from "./SchemaModel.ts"
import { quoted } from "./Violation.ts"

/**
 * The element of the fault, as far as it is known.
 *
 * @category models
 * @since 0.1.0
 */
export interface FaultContext {
  readonly form: InvoiceForm
  readonly model: SchemaModel
  /** `undefined` where the schema has no such element in this place. */
  readonly declaration: ElementDeclaration | undefined
  readonly element: LocatedElement | undefined
}

/**
 * Returns the sentence for a fault of the order of elements, or `undefined` for a fault of another kind.
 *
 * @category formatting
 * @since 0.1.0
 */
export const sentence = (text: string, context: FaultContext): string | undefined => {
  if (text.startsWith("Missing child element(s)")) return incomplete(expectedIn(text), context)
  if (text.startsWith("This element is not expected")) return unexpected(expectedIn(text), context)
  return undefined
}

// libxml2 lists ten names at most.
const expectedIn = (text: string): ReadonlyArray<string> => {
  const list = /Expected is (?:one of )?\( (.*) \)/s.exec(text)?.[1] ?? ""
  return list.split(", ").flatMap((name) => /^(?:\{[^}]*\})?([^{}*]+)$/.exec(name.trim())?.slice(1) ?? [])
}

const incomplete = (expected: ReadonlyArray<string>, { declaration }: FaultContext): string => {
  const children = declaration?.children() ?? []
  const required = children.filter(({ isRequired, name }) => isRequired && expected.includes(name))
  return required.length > 0
    ? `${list(required.map(named), "and")} ${required.length === 1 ? "is" : "are"} missing at its end`
    : `is not complete; expected at its end: ${alternatives(expected, children)}`
}

const unexpected = (expected: ReadonlyArray<string>, context: FaultContext): string => {
  const { element, form, model } = context
  if (element === undefined) return `is not expected here; expected: ${alternatives(expected, [])}`
  if (element.namespace !== form.namespace) {
    const found = element.namespace === "" ? "has no namespace" : `is in the namespace ${quoted(element.namespace)}`
    return `${found}; every element of ${form.systemCode} is in "${form.namespace}"`
  }
  const name = element.names.at(-1)!
  const children = model.find(element.names.slice(0, -1))?.children() ?? []
  const parent = element.names.at(-2) ?? "the document"
  const declaration = children.find((child) => child.name === name)
  const here = expected.length === 0 ? "" : `; expected here: ${alternatives(expected, children)}`
  if (declaration === undefined) {
    const similar = children.find((child) => isMisspelling(name, child.name))
    return similar === undefined
      ? `${misplaced(name, parent, context)}${here}`
      : `is not an element of ${form.systemCode}; write ${named(similar)}`
  }
  return inWrongPlace(expected, element, declaration, children) ?? `is not allowed in this place${here}`
}

const misplaced = (name: string, parent: string, { form, model }: FaultContext): string => {
  const parents = model.parentsOf(name)
  return parents.length === 0
    ? `is not an element of ${form.systemCode}`
    : `is not an element of ${parent}; it belongs in ${list(parents.slice(0, 3), "or")}`
}

// Another case, or one character more, less or other.
const isMisspelling = (given: string, meant: string): boolean => {
  const [a, b] = [given.toLowerCase(), meant.toLowerCase()]
  if (a === b) return true
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const rests = [
    [a.slice(start + 1), b.slice(start)],
    [a.slice(start), b.slice(start + 1)],
    [a.slice(start + 1), b.slice(start + 1)]
  ]
  return a.length > 3 && rests.some(([one, other]) => one === other)
}

const inWrongPlace = (
  expected: ReadonlyArray<string>,
  { after, before }: LocatedElement,
  declaration: ElementDeclaration,
  children: ReadonlyArray<ElementDeclaration>
): string | undefined => {
  const { name } = declaration
  const order = children.map((child) => child.name)
  const place = order.indexOf(name)
  // A name that stands in several places of the schema, or in a group that repeats, has no order to speak of.
  const isOrdered = (other: string): boolean =>
    order.indexOf(other) === order.lastIndexOf(other) &&
    children.find((child) => child.name === other)?.isInRepeatingGroup === false
  if (!isOrdered(name)) return undefined

  if (before.includes(name) && !declaration.isRepeatable) {
    return `occurs ${times(before.filter((other) => other === name).length + 1)}; it may occur once`
  }
  // libxml2 names ten elements at most, and optional ones first, so that the schema is asked.
  const absent = children.filter(
    (child) => child.isRequired && order.indexOf(child.name) < place && !before.includes(child.name)
  )
  const later = absent.find((child) => after.includes(child.name))
  if (later !== undefined) return `must come after ${named(later)}`
  const earlier = before.find((other) => isOrdered(other) && order.indexOf(other) > place)
  if (earlier !== undefined) return `must come before ${earlier}`
  if (absent.length > 0) return missing(absent)
  const isAbsent = (other: string): boolean => !before.includes(other) && !after.includes(other)
  if (expected.length > 1 && expected.every((other) => isAbsent(other) && order.indexOf(other) < place)) {
    return `${alternatives(expected, children)} is missing before it`
  }
  // The rest of a group that has begun.
  const only = expected.length === 1 ? children.find((child) => child.name === expected[0]) : undefined
  if (only === undefined || order.indexOf(only.name) > place) return undefined
  return after.includes(only.name) ? `must come after ${named(only)}` : missing([only])
}

const missing = (declarations: ReadonlyArray<ElementDeclaration>): string =>
  `${list(declarations.map(named), "and")} ${declarations.length === 1 ? "is" : "are"} missing before it`

const times = (count: number): string => (count === 2 ? "twice" : `${count} times`)

const named = ({ description, name }: ElementDeclaration): string =>
  description === undefined ? name : `${name} (${description})`

const alternatives = (expected: ReadonlyArray<string>, children: ReadonlyArray<ElementDeclaration>): string => {
  if (expected.length > 4) return `${expected.slice(0, 4).join(", ")} or another one`
  // With a description each, more than two would hide the rest of the sentence.
  if (expected.length > 2) return list(expected, "or")
  const describe = (name: string): string => {
    const declaration = children.find((child) => child.name === name)
    return declaration === undefined ? name : named(declaration)
  }
  return list(expected.map(describe), "or")
}

const list = (items: ReadonlyArray<string>, conjunction: string): string =>
  items.length < 2 ? (items[0] ?? "nothing") : `${items.slice(0, -1).join(", ")} ${conjunction} ${items.at(-1)}`
