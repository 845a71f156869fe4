/**
 * XML documents to and from values, by fast-xml-parser.
 *
 * It accepts documents that are not well-formed, so it reads behind the verdict of `StrictXml` only.
 */
import { XMLBuilder, XMLParser } from "fast-xml-parser"
import * as StrictXml from "../xml/StrictXml.ts"

/** An element by its local name. Its text is what stands directly inside of it. Attributes keep their prefixes. */
export interface Values {
  readonly name: string
  readonly text: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: ReadonlyArray<Values>
}

/** A document: its root element and the namespace of that. */
export interface Root extends Values {
  readonly namespace: string
}

/** Reads a document, or returns `undefined` where it is not well-formed. */
export const read = (xml: string): Root | undefined => {
  let namespace: string | undefined
  const fault = StrictXml.read(xml, {
    open: (element) => {
      namespace ??= element.namespace
    },
    text: () => {},
    close: () => {}
  })
  if (fault !== undefined || namespace === undefined) return undefined
  const [root] = elements(parser.parse(xml) as Nodes)
  return root === undefined ? undefined : { ...root, namespace }
}

/** Returns the elements at a path below an element, in document order. */
export const all = (from: Values, ...path: ReadonlyArray<string>): ReadonlyArray<Values> =>
  path.reduce<ReadonlyArray<Values>>(
    (found, name) => found.flatMap(({ children }) => children.filter((child) => child.name === name)),
    [from]
  )

/** Returns the text of the first element at a path, or `undefined` where there is none. */
export const text = (from: Values, ...path: ReadonlyArray<string>): string | undefined => all(from, ...path)[0]?.text

/** Collapses white space as in an `xsd:token`. Two steps, because one expression for both ends takes quadratic time. */
export const collapsed = (text: string): string => text.replace(/[\t\n\r ]+/g, " ").replace(/^ | $/g, "")

/** The content of an element: text, or the elements inside. An element whose content is `undefined` is left out. */
export type Content = string | undefined | ReadonlyArray<readonly [name: string, content: Content]>

/** Writes a document with a declaration, indented by two spaces. */
export const write = (name: string, namespace: string, content: Content): string =>
  `${builder.build([
    {
      "?xml": [{ [textName]: "" }],
      [attributesName]: { [`${attributePrefix}version`]: "1.0", [`${attributePrefix}encoding`]: "UTF-8" }
    },
    { [name]: nodes(content), [attributesName]: { [`${attributePrefix}xmlns`]: namespace } }
  ])}\n`

/** The content of an element as fast-xml-parser returns it, in document order. */
type Nodes = ReadonlyArray<Readonly<Record<string, unknown>>>

const textName = "#text"
const attributesName = ":@"
const attributePrefix = "@"

// It refuses names such as `constructor`, and transforms some names twice. A bracket can begin no name.
const marked = (name: string): string => (name.startsWith("<") ? name : `<${name}`)

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: attributePrefix,
  transformTagName: marked,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  // Without it, numeric references are not replaced.
  htmlEntities: true,
  // Paths are given to no callback. Building them makes deep documents three times as expensive.
  jPath: false,
  maxNestedTags: StrictXml.maxDepth + 1
})

const builder = new XMLBuilder({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: attributePrefix,
  format: true,
  indentBy: "  ",
  processEntities: false
})

const elements = (content: Nodes): ReadonlyArray<Values> =>
  content.flatMap((node) => {
    const tag = Object.keys(node).find((key) => key.startsWith("<"))
    if (tag === undefined) return []
    const inside = node[tag] as Nodes
    return {
      name: tag.slice(tag.indexOf(":") + 1 || 1),
      text: inside.map((child) => (child[textName] as string | undefined) ?? "").join(""),
      attributes: new Map(
        Object.entries((node[attributesName] ?? {}) as Record<string, string>).map(([name, value]) => [
          name.slice(attributePrefix.length),
          value
        ])
      ),
      children: elements(inside)
    }
  })

const nodes = (content: Content): Nodes =>
  typeof content === "string"
    ? [{ [textName]: escaped(content) }]
    : (content ?? []).flatMap(([name, inside]) => (inside === undefined ? [] : [{ [name]: nodes(inside) }]))

const escaped = (text: string): string => text.replace(/[&<>\r]/g, (character) => references[character]!)

// The builder would write a carriage return as it is, and a parser would read it as a line feed.
const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" }
