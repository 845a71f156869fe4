/** XML documents to and from values. */
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
  `<?xml version="1.0" encoding="UTF-8"?>${element("\n", name, content, ` xmlns="${namespace}"`)}\n`

const element = (newLine: string, name: string, content: Content, attributes = ""): string => {
  if (content === undefined) return ""
  const isText = typeof content === "string"
  const inside = isText
    ? escaped(content)
    : content.map(([child, inner]) => element(`${newLine}  `, child, inner)).join("")
  return `${newLine}<${name}${attributes}>${inside}${isText || inside === "" ? "" : newLine}</${name}>`
}

const escaped = (text: string): string => text.replace(/[&<>\r]/g, (character) => references[character]!)

// A parser would read a carriage return as a line feed.
const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" }
