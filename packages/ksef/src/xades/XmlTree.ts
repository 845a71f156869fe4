/**
 * XML documents as trees, with the namespaces that canonical forms depend on.
 *
 * @since 0.1.0
 */
import { SaxesParser } from "saxes"

/**
 * A document: its root element, and what stands before and after it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Document {
  readonly kind: "document"
  readonly children: ReadonlyArray<Node>
  readonly root: Element
}

/**
 * An element. `declarations` are the namespaces that it declares itself, by prefix; the default one has the prefix `""`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Element {
  readonly kind: "element"
  readonly prefix: string
  readonly name: string
  readonly namespace: string
  readonly attributes: ReadonlyArray<Attribute>
  readonly declarations: ReadonlyMap<string, string>
  readonly children: ReadonlyArray<Node>
  readonly parent: Element | undefined
}

/**
 * An attribute that declares no namespace. Its value is normalized.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attribute {
  readonly prefix: string
  readonly name: string
  readonly namespace: string
  readonly value: string
}

/**
 * The content of elements and documents. Text has its references replaced, and CDATA sections are text.
 *
 * @category models
 * @since 0.1.0
 */
export type Node =
  | Element
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "comment"; readonly text: string }
  | { readonly kind: "instruction"; readonly target: string; readonly text: string }

/**
 * Parses a document that `StrictXml` has accepted.
 *
 * @throws {Error} where it is not well-formed.
 * @category parsing
 * @since 0.1.0
 */
export const parse = (xml: string): Document => {
  const parser = new SaxesParser({ xmlns: true, position: false })
  const outside: Array<Node> = []
  const open: Array<Element & { readonly children: Array<Node> }> = []
  const add = (node: Node): void => void (open.at(-1)?.children ?? outside).push(node)

  parser.on("error", (error) => {
    throw error
  })
  parser.on("opentag", ({ attributes, local, ns, prefix, uri }) => {
    const element = {
      kind: "element" as const,
      prefix,
      name: local,
      namespace: uri,
      attributes: Object.values(attributes)
        .filter(({ local, prefix }) => prefix !== "xmlns" && !(prefix === "" && local === "xmlns"))
        .map(({ local, prefix, uri, value }) => ({ prefix, name: local, namespace: uri, value })),
      declarations: new Map(Object.entries(ns)),
      children: [],
      parent: open.at(-1)
    }
    add(element)
    open.push(element)
  })
  parser.on("closetag", () => void open.pop())
  // White space around the root is no content.
  const text = (text: string): void => {
    if (open.length > 0) add({ kind: "text", text })
  }
  parser.on("text", text)
  parser.on("cdata", text)
  parser.on("comment", (text) => add({ kind: "comment", text }))
  parser.on("processinginstruction", ({ body, target }) => add({ kind: "instruction", target, text: body }))
  parser.write(xml).close()

  const root = outside.find((node) => node.kind === "element")
  if (root === undefined) throw new Error("Expected a root element")
  return { kind: "document", children: outside, root }
}

/**
 * Returns the elements of a tree in document order, its root first.
 *
 * @category getters
 * @since 0.1.0
 */
export const elements = (root: Element): ReadonlyArray<Element> => {
  const found: Array<Element> = []
  const pending = [root]
  for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
    found.push(element)
    pending.push(...childElements(element).toReversed())
  }
  return found
}

/**
 * Returns the child elements of an element; those of one expanded name where it is given.
 *
 * @category getters
 * @since 0.1.0
 */
export const childElements = (element: Element, namespace?: string, name?: string): ReadonlyArray<Element> =>
  element.children.filter(
    (node): node is Element =>
      node.kind === "element" &&
      (namespace === undefined || node.namespace === namespace) &&
      (name === undefined || node.name === name)
  )

/**
 * Returns the value of an attribute without a prefix.
 *
 * @category getters
 * @since 0.1.0
 */
export const attribute = (element: Element, name: string): string | undefined =>
  element.attributes.find((attribute) => attribute.prefix === "" && attribute.name === name)?.value

/**
 * Returns the text directly inside of an element.
 *
 * @category getters
 * @since 0.1.0
 */
export const textOf = (element: Element): string =>
  element.children.map((node) => (node.kind === "text" ? node.text : "")).join("")
