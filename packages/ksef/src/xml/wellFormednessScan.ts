/**
 * Finds faults that saxes reports late or not at all: a document type, an unterminated section, a processing instruction
 * without the space after its target.
 *
 * Each scan is one pass that skips comments, CDATA sections and processing instructions.
 *
 * @since 0.1.0
 */

/**
 * Returns where the document type begins in the prolog of `xml`, or `undefined` where there is none.
 *
 * @category getters
 * @since 0.1.0
 */
export const doctype = (xml: string): number | undefined => {
  let index = xml.startsWith("\uFEFF") ? 1 : 0
  for (;;) {
    while (isWhiteSpace(xml.charCodeAt(index))) index++
    const span = spanAt(xml, index)
    if (span === undefined) return xml.startsWith("<!DOCTYPE", index) ? index : undefined
    const end = endOf(xml, index, span)
    if (end === undefined) return undefined
    index = end
  }
}

/**
 * A section without its end.
 *
 * @category models
 * @since 0.1.0
 */
export interface Unterminated {
  readonly what: string
  readonly index: number
}

/**
 * Returns the first comment, CDATA section or processing instruction of `xml` that is not closed, or the first
 * ampersand that begins no reference.
 *
 * @category getters
 * @since 0.1.0
 */
export const unterminated = (xml: string): Unterminated | undefined => {
  const beginning = /[<&]/g
  for (let match = beginning.exec(xml); match !== null; match = beginning.exec(xml)) {
    const { index } = match
    if (match[0] === "&") {
      reference.lastIndex = index
      if (!reference.test(xml)) return { what: "ampersand that begins no reference; write &amp;", index }
      continue
    }
    const span = spanAt(xml, index)
    if (span === undefined) continue
    const end = endOf(xml, index, span)
    if (end === undefined) return { what: `unclosed ${span.what}`, index }
    beginning.lastIndex = end
  }
  return undefined
}

/**
 * Returns where the first processing instruction of `xml` begins that has data but no white space after its target, or
 * `undefined` when there is none. Assumes that they are right otherwise.
 *
 * @category getters
 * @since 0.1.0
 */
export const missingPiSpace = (xml: string): number | undefined => {
  const beginning = /<[!?]/g
  for (let match = beginning.exec(xml); match !== null; match = beginning.exec(xml)) {
    const { index } = match
    target.lastIndex = index
    if (xml.startsWith("<?", index) && !target.test(xml)) return index
    const span = spanAt(xml, index)
    beginning.lastIndex = (span && endOf(xml, index, span)) ?? index + 1
  }
  return undefined
}

/**
 * Returns where the first processing instruction of `xml` begins, the XML declaration aside, or `undefined` when there is
 * none. Assumes that `xml` is well-formed.
 *
 * @category getters
 * @since 0.1.0
 */
export const processingInstruction = (xml: string): number | undefined => {
  const beginning = /<[!?]/g
  for (let match = beginning.exec(xml); match !== null; match = beginning.exec(xml)) {
    const { index } = match
    if (xml.startsWith("<?", index) && !/^<\?xml\s/.test(xml.slice(index, index + 6))) return index
    const span = spanAt(xml, index)
    beginning.lastIndex = (span && endOf(xml, index, span)) ?? index + 1
  }
  return undefined
}

const isWhiteSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

interface Span {
  readonly what: string
  readonly begin: string
  readonly end: string
}

const spans: ReadonlyArray<Span> = [
  { what: "comment", begin: "<!--", end: "-->" },
  { what: "CDATA section", begin: "<![CDATA[", end: "]]>" },
  { what: "processing instruction", begin: "<?", end: "?>" }
]

const spanAt = (xml: string, index: number): Span | undefined => spans.find(({ begin }) => xml.startsWith(begin, index))

const endOf = (xml: string, index: number, span: Span): number | undefined => {
  const end = xml.indexOf(span.end, index + span.begin.length)
  return end === -1 ? undefined : end + span.end.length
}

const target = /<\?[^\t\n\r ?]+(?:[\t\n\r ]|\?>)/y

// The parser checks the names of references; this finds their ends only.
const reference = /&[^\s&;<>"']+;/y
