/** XML documents to and from values: read by `StrictXml`, written by fast-xml-parser. */
import { XMLBuilder } from "fast-xml-parser"
import * as StrictXml from "../xml/StrictXml.ts"

export { collapsed } from "./whiteSpace.ts"

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

interface Open extends Values {
  text: string
  readonly children: Array<Values>
}

const none: ReadonlyMap<string, string> = new Map()

/** Reads a document, or returns `undefined` where it is not well-formed. */
export const read = (xml: string): Root | undefined => {
  let root: Root | undefined
  const open: Array<Open> = []
  const fault = StrictXml.read(xml, {
    open: (element) => {
      const attributes = element.attributes()
      const values: Open = {
        name: element.name,
        text: "",
        attributes: attributes.length === 0 ? none : new Map(attributes),
        children: []
      }
      open.at(-1)?.children.push(values)
      open.push(values)
      root ??= Object.assign(values, { namespace: element.namespace })
    },
    text: (text) => {
      const parent = open.at(-1)
      if (parent !== undefined) parent.text += text
    },
    close: () => void open.pop()
  })
  return fault === undefined ? root : undefined
}

/** Returns the elements at a path below an element, in document order. */
export const all = (from: Values, ...path: ReadonlyArray<string>): ReadonlyArray<Values> =>
  path.reduce<ReadonlyArray<Values>>(
    (found, name) => found.flatMap(({ children }) => children.filter((child) => child.name === name)),
    [from]
  )

/** Returns the text of the first element at a path, or `undefined` where there is none. */
export const text = (from: Values, ...path: ReadonlyArray<string>): string | undefined => all(from, ...path)[0]?.text

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

/** The content of an element as fast-xml-parser takes it, in document order. */
type Nodes = ReadonlyArray<Readonly<Record<string, unknown>>>

const textName = "#text"
const attributesName = ":@"
const attributePrefix = "@"

const builder = new XMLBuilder({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: attributePrefix,
  format: true,
  indentBy: "  ",
  processEntities: false
})

const nodes = (content: Content): Nodes =>
  typeof content === "string"
    ? [{ [textName]: escaped(content) }]
    : (content ?? []).flatMap(([name, inside]) => (inside === undefined ? [] : [{ [name]: nodes(inside) }]))

const escaped = (text: string): string => text.replace(/[&<>\r]/g, (character) => references[character]!)

// The builder would write a carriage return as it is, and a parser would read it as a line feed.
const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" }
