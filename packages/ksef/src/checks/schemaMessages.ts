/**
 * Turns faults of libxml2 into sentences for the sender: what was found, what the schema allows, and how to write it.
 *
 * @since 0.1.0
 */
import { type LocatedElement, shortName } from "./ElementLocator.ts"
import type { InvoiceForm } from "./InvoiceForms.ts"
import * as orderMessages from "./orderMessages.ts"
import type { SchemaModel } from "./SchemaModel.ts"
import type { SchemaFault } from "./SchemaValidator.ts"
import * as valueMessages from "./valueMessages.ts"
import { escaped, quoted } from "./Violation.ts"

/**
 * Returns the sentence for a fault, without its subject, which is the element. A fault that has no sentence keeps
 * libxml2's words, without its namespaces.
 *
 * @category formatting
 * @since 0.1.0
 */
export const sentence = (
  fault: SchemaFault,
  element: LocatedElement | undefined,
  form: InvoiceForm,
  model: SchemaModel
): string => {
  if (fault.message.length > longestWhole) {
    const isName = (element?.names.at(-1)?.length ?? 0) > longestWords
    return isName ? `is not an element of ${form.systemCode}` : "has a value or an attribute that is far too long"
  }
  const parts = parse(fault.message)
  if (parts === undefined) return withoutNamespaces(fault.message)
  const { attribute, text } = parts
  if (attribute !== undefined || text.startsWith("The attribute")) return ofAttribute(attribute, text)
  const declaration = element && model.find(element.names)
  const context = { form, model, declaration, element }
  return orderMessages.sentence(text, context) ?? valueMessages.sentence(text, declaration) ?? ofContent(text)
}

// libxml2 cuts messages at 64,000 bytes, and repeats the value in front of what is wrong with it. No field is that long.
const longestWhole = 15_000

const messageForm =
  /^Element '(?:\{[^}]*\})?[^']*'(?:, attribute '(?<attribute>[^']*)')?: (?:\[facet '\w+'\] )?(?<text>.*)$/s

const parse = (message: string) => {
  const groups = messageForm.exec(message)?.groups
  return groups && { attribute: groups["attribute"], text: groups["text"] ?? "" }
}

const ofAttribute = (attribute: string | undefined, text: string): string => {
  if (attribute === xsiType) return "has an attribute xsi:type that does not fit; leave it out"
  const required = /^The attribute '([^']*)' is required but missing/.exec(text)?.[1]
  if (required !== undefined) return `the attribute ${required} is missing`
  const unknown = /^The attribute '([^']*)' is not allowed/.exec(text)?.[1]
  if (unknown !== undefined) return `the attribute ${bare(unknown)} is not allowed here; remove it`
  const [, found, fixed] = /^The value '(.*)' does not match the fixed value constraint '(.*)'/s.exec(text) ?? []
  if (found !== undefined && fixed !== undefined) {
    return `the attribute ${bare(attribute ?? "")} must be "${fixed}" (got ${quoted(found)})`
  }
  return `attribute ${bare(attribute ?? "")}: ${withoutNamespaces(text)}`
}

const ofContent = (text: string): string => {
  if (text.startsWith("Character content other than whitespace is not allowed")) {
    return "contains text between its elements; only elements are allowed here"
  }
  if (text.startsWith("Element content is not allowed")) return "contains an element; only text is allowed here"
  if (text.startsWith("The element is not 'nillable'")) return "must not have xsi:nil; leave the element out"
  return withoutNamespaces(text)
}

const instanceNamespace = "{http://www.w3.org/2001/XMLSchema-instance}"
const xsiType = `${instanceNamespace}type`

const bare = (name: string): string =>
  shortName(
    name
      .replace("{http://www.w3.org/XML/1998/namespace}", "xml:")
      .replace(instanceNamespace, "xsi:")
      .replace(/^\{[^}]*\}/, "")
  )

const withoutNamespaces = (text: string): string => {
  const words = text.replaceAll(/\{[^{}]*\}/g, "").replace(/\.$/, "")
  return escaped(words.length > longestWords ? `${words.slice(0, longestWords).toWellFormed()}…` : words)
}

const longestWords = 300
