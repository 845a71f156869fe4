/**
 * Documents for the property tests of the document check: documents that are well-formed by construction, and the same
 * with a mistake made in them.
 */
import { Arbitrary, Schema } from "effect"

const oneOf = <const A extends string>(values: ReadonlyArray<A>) => Arbitrary.schema(Schema.Literals(values))
const number = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))
const joined = (part: Arbitrary.Arbitrary<string>, maxLength: number) =>
  Arbitrary.map(Arbitrary.array(part, { maxLength }), (parts) => parts.join(""))

const name = oneOf(["a", "B1", "żółć", "_x-y.z", "p:a", "p:b", "\u{10400}", "xmlish", "constructor"])
const space = oneOf([" ", "\n", "\r\n", "\t", "  "])
const reference = oneOf(["&lt;", "&gt;", "&amp;", "&apos;", "&quot;", "&#65;", "&#x1F600;", "&#10;", "&#xD7FF;"])
const character = oneOf(["x", "ż", "€", "😀", " ", "\n", "\r", "]", "]]", "-", "--", "?", "/", "=", "\u0085", "\ufffd"])

const text = joined(
  Arbitrary.flatMap(number(3), (kind) => (kind === 0 ? reference : character)),
  8
)
const quoted = Arbitrary.map(
  Arbitrary.all([
    joined(
      Arbitrary.flatMap(number(2), (kind) => (kind === 0 ? reference : oneOf(["x", ">", "ż", "]]>", "\n"]))),
      4
    ),
    oneOf(['"', "'"])
  ]),
  ([value, quote]) => quote + value + quote
)
const attributes = Arbitrary.map(
  Arbitrary.array(Arbitrary.all([space, name, space, quoted]), { maxLength: 4 }),
  (entries) =>
    Array.from(new Map(entries.map((entry) => [entry[1], entry] as const)).values())
      .map(([before, key, around, value]) => `${before}${key}${around}=${around}${value}`)
      .join("")
)

const comment = Arbitrary.map(
  joined(oneOf(["x", "- ", "<b>", "&", "]]>", "<!DOCTYPE a>", "ż"]), 4),
  (data) => `<!--${data}-->`
)
const cdata = Arbitrary.map(
  joined(oneOf(["x", "<", "&", "]", "]] ", "--", "<!DOCTYPE a>", "ż"]), 4),
  (data) => `<![CDATA[${data}]]>`
)
const instruction = Arbitrary.map(
  Arbitrary.all([oneOf(["p", "xml-stylesheet", "ż1"]), space, joined(oneOf(["x", "? ", "<", "&", "?? "]), 4)]),
  ([target, before, data]) => `<?${target}${before}${data}?>`
)

const element = (depth: number): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(
    Arbitrary.all([name, attributes, space, depth === 0 ? text : joined(content(depth - 1), 4)]),
    ([tag, attribute, before, inner]) =>
      inner === "" ? `<${tag}${attribute}${before}/>` : `<${tag}${attribute}>${inner}</${tag}${before}>`
  )

const content = (depth: number): Arbitrary.Arbitrary<string> =>
  Arbitrary.flatMap(number(7), (kind) =>
    kind < 3 ? element(depth) : kind === 3 ? comment : kind === 4 ? cdata : kind === 5 ? instruction : text
  )

const misc = joined(
  Arbitrary.flatMap(number(2), (kind) => (kind === 0 ? comment : kind === 1 ? instruction : space)),
  2
)

/** Well-formed documents. */
export const document: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.all([
    oneOf([
      "",
      "\uFEFF",
      '<?xml version="1.0"?>',
      '\uFEFF<?xml version="1.0" encoding="UTF-8"?>',
      "<?xml  version = '1.0' encoding = 'utf-8' standalone = 'no' ?>"
    ]),
    misc,
    joined(content(2), 4),
    misc
  ]),
  ([declaration, before, inner, after]) =>
    `${declaration}${before}<p:r xmlns:p="urn:x" xmlns="urn:y">${inner}</p:r>${after}`
)

// prettier-ignore
const mistakes = [
  "", "", "<", ">", "&", ";", "/", "?", "!", "-", "--", "]]>", "'", '"', "=", ":", " ", "\n", "a", "1", ".", "\u0001", "\u000b", "\ufffe",
  "\u0301", "\u00d7", "\uFEFF", "<b/>", "<b>", "</a>", "<!--", "-->", "<![CDATA[", "<?x?>", "<?x?y?>", "<?xml?>", "&#0;", "&#32;", "&x;", "&nbsp;",
  "&#xD800;", "q:", ' xmlns:q="u" ', ' xmlns:p="u" ', ' xmlns:p="" ', ' x="1" x="2" ', "xml", "xmlns", "#", "\u0000"
] as const

/** Documents in which a few characters were replaced, somewhere, by something else. */
export const edited: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.all([document, number(1000), number(3), oneOf(mistakes)]),
  ([xml, place, length, mistake]) => {
    const index = Math.floor((xml.length * place) / 1000)
    // A cut through a surrogate pair is another test's business.
    return (xml.slice(0, index) + mistake + xml.slice(index + length)).toWellFormed()
  }
)
