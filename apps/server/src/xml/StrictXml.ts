/**
 * Reads text as XML 1.0 with namespaces, and takes nothing less than a well-formed document.
 *
 * The parser is saxes. What it leaves open is closed here: document types are refused, so there is nothing to expand;
 * nesting is bounded; the declaration has to tell the truth; local names have to be names. It knows no schema and keeps
 * nothing of the document.
 *
 * @since 0.1.0
 */
import { SaxesParser, type XMLDecl } from "saxes"
import * as Unparsed from "./Unparsed.ts"

/**
 * How deep elements may be nested. An invoice needs about ten levels, and the search for a prefix visits each of them.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxDepth = 128

/**
 * Why a document is refused. `message` is a predicate whose subject is the document: «is not well-formed: …». The
 * position is where the fault was noticed, counted from 1, the column in code points.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fault {
  readonly message: string
  readonly line: number
  readonly column: number
}

/**
 * The start of an element: its expanded name and the values of its attributes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Element {
  readonly namespace: string
  readonly name: string
  readonly attribute: (name: string) => string | undefined
}

/**
 * What is told of a document while it is read. Text comes in pieces, with its references replaced.
 *
 * **Gotchas**
 *
 * A fault further on can still refuse the document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Visitor {
  readonly open: (element: Element) => void
  readonly text: (text: string) => void
  readonly close: () => void
}

/**
 * Reads `xml` to its end and returns what is wrong with it, or `undefined` when nothing is.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (xml: string, visitor?: Visitor): Fault | undefined => {
  // saxes takes a high surrogate with whatever follows it.
  if (!xml.isWellFormed()) return faultAt(xml, xml.search(/\p{Surrogate}/u), malformed("unpaired surrogate"))
  const doctype = Unparsed.doctype(xml)
  if (doctype !== undefined) return faultAt(xml, doctype, noDoctype)

  const parser = new SaxesParser({ xmlns: true, position: false })
  const refuse = (message: string): never => {
    const column = parser.line === 1 ? withoutMark(xml, parser.column) : parser.column
    throw new Refusal({ message: bounded(message), line: parser.line, column: Math.max(column, 1) })
  }
  const checkName = (prefix: string, local: string): void => {
    if (prefix !== "" && isNotNameStart.test(local)) refuse(malformed(`malformed name: ${prefix}:${local}`))
  }
  let depth = 0

  // No more than six handlers: a seventh makes V8 keep the parser as a hash table, and it takes four times as long.
  parser.on("error", ({ message }) => {
    if (isLate.test(message)) {
      const unended = Unparsed.unended(xml)
      if (unended !== undefined) throw new Refusal(faultAt(xml, unended.index, malformed(unended.what)))
    }
    refuse(malformed(worded(message, xml.codePointAt(parser.position - 1))))
  })
  parser.on("attribute", ({ prefix, local }) => checkName(prefix, local))
  parser.on("opentag", ({ prefix, local, uri, attributes }) => {
    if (depth === 0) checkDeclaration(xml, parser.xmlDecl)
    if (++depth > maxDepth) refuse(`must not nest elements deeper than ${maxDepth} levels`)
    checkName(prefix, local)
    visitor?.open({ namespace: uri, name: local, attribute: (name) => attributes[name]?.value })
  })
  parser.on("closetag", () => {
    depth--
    visitor?.close()
  })
  if (visitor !== undefined) {
    parser.on("text", visitor.text)
    parser.on("cdata", visitor.text)
  }

  try {
    parser.write(xml).close()
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.fault
    throw thrown
  }
  // saxes takes data that begins with a question mark without a space before it.
  const unspaced = Unparsed.unspaced(xml)
  return unspaced === undefined
    ? undefined
    : faultAt(xml, unspaced, malformed("no space after the target of a processing instruction"))
}

const checkDeclaration = (xml: string, { encoding, version }: XMLDecl): void => {
  const refuse = (message: string): never => {
    throw new Refusal(faultAt(xml, xml.indexOf("?>"), bounded(message)))
  }
  if (version !== undefined && version !== "1.0") refuse(`must be XML 1.0, and its declaration says ${version}`)
  if (encoding !== undefined && encoding.toUpperCase() !== "UTF-8") {
    refuse(`must be UTF-8, and its declaration says ${encoding}`)
  }
}

const noDoctype = "must not have a document type declaration (DOCTYPE)"

const malformed = (detail: string): string => `is not well-formed: ${detail}`

// What may stand inside a name but not begin one. saxes looks at the first character before the prefix only.
const isNotNameStart = /^[\u0300-\u036F\u00B7\u203F\u2040.0-9-]/

// What saxes says when it has looked for an end in vain, or found one too far away.
const isLate = /^(unclosed tag|unexpected end|document must contain|disallowed character in entity name|empty entity)/

const worded = (message: string, character: number | undefined): string => {
  const words = message.trimEnd().replace(/\.$/, "")
  if (words === "expected one of") return "the XML declaration has too many parts"
  return words.startsWith("disallowed character") && character !== undefined
    ? `${words}: U+${character.toString(16).toUpperCase().padStart(4, "0")}`
    : words
}

// saxes quotes names, which can be as long as the document.
const bounded = (message: string): string => {
  const longest = 200
  return message.length > longest ? `${message.slice(0, longest - 1).toWellFormed()}…` : message
}

const faultAt = (xml: string, index: number, message: string): Fault => {
  const lines = xml.slice(0, index).split(/\r\n?|\n/)
  const column = Array.from(lines.at(-1) ?? "").length + 1
  return { message, line: lines.length, column: lines.length === 1 ? withoutMark(xml, column) : column }
}

// A byte order mark takes up no column.
const withoutMark = (xml: string, column: number): number => (xml.startsWith("\uFEFF") ? column - 1 : column)

class Refusal {
  readonly fault: Fault
  constructor(fault: Fault) {
    this.fault = fault
  }
}
