/**
 * Canonical XML: the one text of a document or element that a signature covers.
 *
 * Sources: Canonical XML 1.0 and 1.1, Exclusive XML Canonicalization 1.0 (W3C).
 *
 * @since 0.1.0
 */
import type { Attribute, Document, Element, Node } from "./XmlTree.ts"

/**
 * Which of the three forms, and its options.
 *
 * **Details**
 *
 * - `inclusivePrefixes`: the `PrefixList` of exclusive canonicalization; `""` stands for `#default`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Method {
  readonly form: "inclusive-1.0" | "inclusive-1.1" | "exclusive"
  readonly withComments: boolean
  readonly inclusivePrefixes?: ReadonlyArray<string>
}

/**
 * The method that Govoice signs with.
 *
 * @category constants
 * @since 0.1.0
 */
export const exclusive: Method = { form: "exclusive", withComments: false }

/**
 * Writes the canonical form of a document, or of an element with all that is in it. `omitted`, an element, is left out
 * as a whole.
 *
 * **Gotchas**
 *
 * Where an ancestor of the element has `xml:base`, `inclusive-1.1` would have to join it to the element's own; it is left
 * out, so a signature over such a document does not verify.
 *
 * @category encoding
 * @since 0.1.0
 */
export const write = (node: Document | Element, method: Method, omitted?: Element): string => {
  const parts: Array<string> = []
  const writer = new Writer(method, omitted, parts)
  if (node.kind === "element") writer.apex(node)
  else {
    const root = node.children.indexOf(node.root)
    for (const [index, child] of node.children.entries()) {
      if (child.kind === "comment" && !method.withComments) continue
      if (index > root) parts.push("\n")
      if (child.kind === "element") writer.apex(child)
      else writer.node(child, emptyScope)
      if (index < root) parts.push("\n")
    }
  }
  return parts.join("")
}

/** The namespaces that an output ancestor has rendered, by prefix. */
type Scope = ReadonlyMap<string, string>

const emptyScope: Scope = new Map()

const xmlNamespace = "http://www.w3.org/XML/1998/namespace"

class Writer {
  readonly #method: Method
  readonly #omitted: Element | undefined
  readonly #parts: Array<string>

  constructor(method: Method, omitted: Element | undefined, parts: Array<string>) {
    this.#method = method
    this.#omitted = omitted
    this.#parts = parts
  }

  /** The topmost element takes over what it inherits from ancestors that are not part of the output. */
  apex(element: Element): void {
    if (element === this.#omitted) return
    this.#element(element, emptyScope, inScope(element), inheritedAttributes(element, this.#method))
  }

  node(node: Node, rendered: Scope): void {
    switch (node.kind) {
      case "element":
        if (node !== this.#omitted) this.#element(node, rendered, node.declarations, [])
        return
      case "text":
        this.#parts.push(escapedText(node.text))
        return
      case "comment":
        if (this.#method.withComments) this.#parts.push(`<!--${node.text}-->`)
        return
      case "instruction":
        this.#parts.push(`<?${node.target}${node.text === "" ? "" : ` ${node.text}`}?>`)
    }
  }

  #element(element: Element, rendered: Scope, declared: Scope, inherited: ReadonlyArray<Attribute>): void {
    const tag = element.prefix === "" ? element.name : `${element.prefix}:${element.name}`
    const declarations = this.#declarations(element, rendered, declared)
    const scope = declarations.length === 0 ? rendered : new Map([...rendered, ...declarations])
    this.#parts.push(`<${tag}`)
    for (const [prefix, namespace] of declarations.sort(([left], [right]) => compare(left, right))) {
      this.#parts.push(` xmlns${prefix === "" ? "" : `:${prefix}`}="${escapedAttribute(namespace)}"`)
    }
    for (const { name, prefix, value } of [...inherited, ...element.attributes].sort(byExpandedName)) {
      this.#parts.push(` ${prefix === "" ? name : `${prefix}:${name}`}="${escapedAttribute(value)}"`)
    }
    this.#parts.push(">")
    for (const child of element.children) this.node(child, scope)
    this.#parts.push(`</${tag}>`)
  }

  #declarations(element: Element, rendered: Scope, declared: Scope): Array<readonly [string, string]> {
    const wanted = new Map<string, string>()
    if (this.#method.form === "exclusive") {
      wanted.set(element.prefix, element.namespace)
      for (const { namespace, prefix } of element.attributes) if (prefix !== "") wanted.set(prefix, namespace)
      for (const prefix of this.#method.inclusivePrefixes ?? []) {
        const namespace = declared.get(prefix)
        if (namespace !== undefined) wanted.set(prefix, namespace)
      }
    } else {
      for (const [prefix, namespace] of declared) wanted.set(prefix, namespace)
    }
    wanted.delete("xml")
    // An empty default namespace has to be written only where it takes back another one.
    return [...wanted].filter(([prefix, namespace]) => (rendered.get(prefix) ?? "") !== namespace)
  }
}

const ancestorsFirst = (element: Element): ReadonlyArray<Element> => {
  const found: Array<Element> = []
  for (let next: Element | undefined = element; next !== undefined; next = next.parent) found.unshift(next)
  return found
}

const inScope = (element: Element): Scope =>
  new Map(ancestorsFirst(element).flatMap(({ declarations }) => [...declarations]))

const inheritedAttributes = (element: Element, { form }: Method): ReadonlyArray<Attribute> => {
  if (form === "exclusive") return []
  const inherited = new Map<string, Attribute>()
  for (const ancestor of ancestorsFirst(element).slice(0, -1)) {
    for (const attribute of ancestor.attributes) {
      if (attribute.namespace !== xmlNamespace) continue
      if (form === "inclusive-1.0" || attribute.name === "lang" || attribute.name === "space") {
        inherited.set(attribute.name, attribute)
      }
    }
  }
  const own = element.attributes.filter(({ namespace }) => namespace === xmlNamespace)
  for (const { name } of own) inherited.delete(name)
  return [...inherited.values()]
}

// By code points. Strings compare by UTF-16 units, which puts the astral planes before U+E000.
const compare = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right))

const byExpandedName = (left: Attribute, right: Attribute): number =>
  compare(left.namespace, right.namespace) || compare(left.name, right.name)

const escapedText = (text: string): string => text.replace(/[&<>\r]/g, (character) => references[character]!)

const escapedAttribute = (text: string): string => text.replace(/[&<"\t\n\r]/g, (character) => references[character]!)

const references: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#x9;",
  "\n": "&#xA;",
  "\r": "&#xD;"
}
