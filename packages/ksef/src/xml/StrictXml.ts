/**
 * Reads text as XML 1.0 with namespaces, and accepts nothing but a well-formed document.
 *
 * The parser is saxes. This module adds the checks that it lacks: document types are refused, so there is nothing to
 * expand; nesting and names are limited; the declaration has to match the document; local names have to be names. It applies no
 * schema and stores nothing of the document.
 *
 * @since 0.1.0
 */
import { type SaxesOptions, SaxesParser, type XMLDecl } from "saxes"
import * as NamespaceScopes from "./NamespaceScopes.ts"
import * as wellFormednessScan from "./wellFormednessScan.ts"

/**
 * How deep elements may be nested. An invoice needs about ten levels.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxDepth = 128

/**
 * How long the local name of an element may be. Those of an invoice are half as long. Readers put the names of the elements that are open
 * together to a path for each element inside of them, so that below a long name their time and memory would grow with the square of the
 * document.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxNameLength = 100

/**
 * Limits on the size of a document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly maxElements: number
  /** The attributes of one element, namespace declarations included. */
  readonly maxAttributes: number
  /** The length of a namespace, and of the prefix that it is declared for. */
  readonly maxNamespaceLength?: number
  /** The pieces of text between two tags, which comments, CDATA sections and processing instructions separate. */
  readonly maxTextPieces?: number
}

/**
 * Why a document is refused. `message` is a predicate whose subject is the document: "is not well-formed: ...". The
 * position is where the parser found the fault, counted from 1, the column in code points.
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
 * The start of an element: its expanded name and its attributes, by their names with prefixes, namespace declarations
 * included. `index` returns where its tag begins in the text, and works only during the callback.
 *
 * @category models
 * @since 0.1.0
 */
export interface Element {
  readonly namespace: string
  readonly name: string
  readonly attribute: (name: string) => string | undefined
  readonly attributes: () => ReadonlyArray<readonly [name: string, value: string]>
  readonly index: () => number
}

/**
 * A position in a text: line and column from 1, the column in code points.
 *
 * @category models
 * @since 0.1.0
 */
export interface Position {
  readonly line: number
  readonly column: number
}

/**
 * Callbacks while a document is read. Text comes in pieces, with its references replaced.
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
 * Reads `xml` to its end and returns its first fault, or `undefined` when there is none. Without `limits`, only the nesting
 * and the names of elements are limited.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (xml: string, visitor?: Visitor, limits: Limits = unlimited): Fault | undefined => {
  // saxes accepts a high surrogate without a low one.
  if (!xml.isWellFormed()) return faultAt(xml, xml.search(/\p{Surrogate}/u), malformed("unpaired surrogate"))
  const doctype = wellFormednessScan.doctype(xml)
  if (doctype !== undefined) return faultAt(xml, doctype, noDoctype)

  const parser = new Parser(options)
  const { scopes } = parser
  const refuse = (message: string): never => {
    const column = parser.line === 1 ? withoutMark(xml, parser.column) : parser.column
    throw new Refusal({ message: bounded(message), line: parser.line, column: Math.max(column, 1) })
  }
  const checkName = (prefix: string, local: string): void => {
    if (prefix !== "" && isNotNameStart.test(local)) refuse(malformed(`malformed name: ${prefix}:${local}`))
  }
  // The elements that are open: their names, and where their tags end.
  const names: Array<string> = []
  const ends: Array<number> = []
  let closedName = ""
  let closedEnd = 0
  let elements = 0
  let attributes = 0
  let pieces = 0

  const mismatch = (message: string): string | undefined => {
    if (message !== "unexpected close tag.") return undefined
    // saxes closes the element before it compares the names.
    const close = xml.slice(xml.lastIndexOf("</", parser.position - 1) + 2, parser.position - 1).trimEnd()
    const { column, line } = positionAt(xml, xml.lastIndexOf("<", closedEnd - 1))
    const name = shortName(closedName)
    return `close tag </${shortName(close)}> found, </${name}> expected; <${name}> begins at line ${line}, column ${column}`
  }

  // No more than six handlers: with a seventh, V8 represents the parser as a dictionary, which takes four times as long.
  parser.on("error", ({ message }) => {
    if (isLate.test(message)) {
      const unterminated = wellFormednessScan.unterminated(xml)
      if (unterminated !== undefined) {
        throw new Refusal(faultAt(xml, unterminated.index, malformed(unterminated.what)))
      }
    }
    refuse(malformed(mismatch(message) ?? worded(message, xml.slice(0, parser.position))))
  })
  parser.on("attribute", ({ name, prefix, local, value }) => {
    if (++attributes > limits.maxAttributes) {
      refuse(`must have no more than ${formatCount(limits.maxAttributes)} attributes on one element`)
    }
    checkName(prefix, local)
    const { maxNamespaceLength = Infinity } = limits
    const isDeclaration = prefix === "xmlns" || name === "xmlns"
    if (isDeclaration && Math.max(value.length, local.length) > maxNamespaceLength) {
      refuse(`must have no namespace or prefix longer than ${formatCount(maxNamespaceLength)} characters`)
    }
    if (prefix === "xmlns") scopes.declare(local, value.trim())
    else if (name === "xmlns") scopes.declare("", value.trim())
  })
  parser.on("opentag", (tag) => {
    if (names.length === 0) checkDeclaration(xml, parser.xmlDecl)
    if (names.push(tag.name) > maxDepth) refuse(`must not nest elements deeper than ${maxDepth} levels`)
    if (tag.local.length > maxNameLength) {
      refuse(`must have no element whose name is longer than ${maxNameLength} characters`)
    }
    if (++elements > limits.maxElements) refuse(`must have no more than ${formatCount(limits.maxElements)} elements`)
    ends.push(parser.position)
    attributes = 0
    pieces = 0
    checkName(tag.prefix, tag.local)
    scopes.open()
    visitor?.open({
      namespace: tag.uri,
      name: tag.local,
      attribute: (name) => tag.attributes[name]?.value,
      attributes: () => Object.values(tag.attributes).map(({ name, value }) => [name, value]),
      // The parser is at the end of the tag, whose attributes cannot contain the character.
      index: () => xml.lastIndexOf("<", parser.position - 1)
    })
  })
  parser.on("closetag", () => {
    pieces = 0
    closedName = names.pop()!
    closedEnd = ends.pop()!
    scopes.close()
    visitor?.close()
  })
  if (visitor !== undefined) {
    const { maxTextPieces = Infinity } = limits
    const onText = (text: string): void => {
      if (++pieces > maxTextPieces) refuse(`must have no text in more than ${formatCount(maxTextPieces)} pieces`)
      visitor.text(text)
    }
    parser.on("text", onText)
    parser.on("cdata", onText)
  }

  try {
    parser.write(xml).close()
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.fault
    throw thrown
  }
  // saxes accepts `<?target?data?>`, where the space after the target is missing.
  const missingPiSpace = wellFormednessScan.missingPiSpace(xml)
  return missingPiSpace === undefined
    ? undefined
    : faultAt(xml, missingPiSpace, malformed("no space after the target of a processing instruction"))
}

/**
 * Returns the position of an index of `xml`. It takes time in proportion to the index.
 *
 * @category getters
 * @since 0.1.0
 */
export const positionAt = (xml: string, index: number): Position => {
  const lines = xml.slice(0, index).split(/\r\n?|\n/)
  const column = Array.from(lines.at(-1) ?? "").length + 1
  return { line: lines.length, column: lines.length === 1 ? Math.max(withoutMark(xml, column), 1) : column }
}

const unlimited: Limits = { maxElements: Infinity, maxAttributes: Infinity }

const options = { xmlns: true, position: false } as const satisfies SaxesOptions

// saxes itself searches all open elements for each prefix, which takes 250 ms for 1 MB in 120 nested elements.
class Parser extends SaxesParser<typeof options> {
  readonly scopes = NamespaceScopes.make()

  override resolve(prefix: string): string | undefined {
    return this.scopes.resolve(prefix)
  }
}

const formatCount = (count: number): string => count.toLocaleString("en")

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

// Characters that a name may contain but not begin with. saxes checks the first character of the prefix only.
const isNotNameStart = /^[\u0300-\u036F\u00B7\u203F\u2040.0-9-]/

// The messages of saxes for a missing end, or one that it found too far away.
const isLate = /^(unclosed tag|unexpected end|document must contain|disallowed character in entity name|empty entity)/

// `read` is the document up to the fault.
const worded = (message: string, read: string): string => {
  const words = message.trimEnd().replace(/\.$/, "")
  if (words === "expected one of") return "the XML declaration has too many parts"
  if (words.startsWith("expected one of")) return `the XML declaration must go on with ${words.slice(16)}`
  if (words.startsWith("version number")) return 'the XML declaration has a malformed version; write version="1.0"'
  if (words.startsWith("encoding value")) return 'the XML declaration has a malformed encoding; write encoding="UTF-8"'
  if (words === "undefined entity") {
    return `undefined entity "${shortName(read.slice(read.lastIndexOf("&")))}"; write the character itself`
  }
  if (words === "text data outside of root node" && !/^\uFEFF?\s*</.test(read)) {
    return "it begins with text; send the document itself, not its path or an encoding of it"
  }
  const character = read.codePointAt(read.length - 1)
  return words.startsWith("disallowed character") && character !== undefined
    ? `${words}: U+${character.toString(16).toUpperCase().padStart(4, "0")}`
    : words
}

// Longer than any name of an invoice.
const shortName = (name: string): string => (name.length > 32 ? `${name.slice(0, 32).toWellFormed()}…` : name)

// saxes quotes names, which can be as long as the document.
const bounded = (message: string): string => {
  const longest = 200
  return message.length > longest ? `${message.slice(0, longest - 1).toWellFormed()}…` : message
}

const faultAt = (xml: string, index: number, message: string): Fault => ({ message, ...positionAt(xml, index) })

// A byte order mark takes up no column.
const withoutMark = (xml: string, column: number): number => (xml.startsWith("\uFEFF") ? column - 1 : column)

class Refusal {
  readonly fault: Fault
  constructor(fault: Fault) {
    this.fault = fault
  }
}
