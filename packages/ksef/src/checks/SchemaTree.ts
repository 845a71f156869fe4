/**
 * A schema as a tree of its elements.
 *
 * @since 0.1.0
 */
import * as StrictXml from "../xml/StrictXml.ts"

/**
 * An element of a schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface Node {
  readonly name: string
  readonly attributes: { readonly [name in (typeof attributeNames)[number]]?: string }
  readonly children: ReadonlyArray<Node>
  readonly text: string
}

/**
 * Parses a schema. Throws when it is not well-formed.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (xsd: string): Node => {
  const document: MutableNode = { name: "", attributes: {}, children: [], text: "" }
  const open = [document]
  const fault = StrictXml.read(xsd, {
    open: ({ attribute, name }) => {
      const given = attributeNames.flatMap((key) => {
        const value = attribute(key)
        return value === undefined ? [] : [[key, value] as const]
      })
      const node: MutableNode = { name, attributes: Object.fromEntries(given), children: [], text: "" }
      open.at(-1)!.children.push(node)
      open.push(node)
    },
    text: (text) => {
      open.at(-1)!.text += text
    },
    close: () => {
      open.pop()
    }
  })
  if (fault !== undefined) throw new Error(`The schema ${fault.message} (line ${fault.line}, column ${fault.column}).`)
  return document.children[0]!
}

/**
 * Returns the description of a declaration, its white space collapsed.
 *
 * @category getters
 * @since 0.1.0
 */
export const documentation = ({ children }: Node): string | undefined =>
  children
    .find(({ name }) => name === "annotation")
    ?.children.find(({ name }) => name === "documentation")
    ?.text.replaceAll(/\s+/g, " ")
    .trim()

const attributeNames = ["name", "type", "base", "value", "minOccurs", "maxOccurs"] as const

interface MutableNode extends Node {
  readonly children: Array<MutableNode>
  text: string
}
