/**
 * Documents made to cost as much as possible, each as large as a document may be.
 */

const size = 999_000

const filled = (part: string, around: readonly [begin: string, end: string] = ["", ""]): string => {
  const [begin, end] = around
  return begin + part.repeat(Math.floor((size - begin.length - end.length) / part.length)) + end
}

const numbered = (begin: string, attribute: (name: string) => string, end: string): string => {
  const parts = [begin]
  let length = begin.length + end.length
  for (let index = 0; length < size - 30; index++) {
    const part = attribute(`a${index.toString(36)}`)
    parts.push(part)
    length += part.length
  }
  return [...parts, end].join("")
}

const longName = "a".repeat(size / 4)

const levels = 126
const deep = (begin: string): readonly [string, string] => [
  begin + "<a>".repeat(levels),
  `${"</a>".repeat(levels)}</a>`
]

/**
 * Hostile documents: a name, the document, and whether it is well-formed and within the bounds.
 */
export const hostile: ReadonlyArray<readonly [what: string, xml: string, taken: boolean]> = [
  ["nested tags", filled("<a>"), false],
  ["nested tags with a prefix", filled("<p:a>", ['<p:a xmlns:p="u">', ""]), false],
  ["nested tags that are closed", `${"<a>".repeat(140_000)}${"</a>".repeat(140_000)}`, false],
  ["attributes", numbered("<a", (name) => ` ${name}=""`, "/>"), true],
  ["attributes with a prefix", numbered('<a xmlns:p="u"', (name) => ` p:${name}=""`, "/>"), true],
  ["namespaces", numbered("<a", (name) => ` xmlns:${name}="u"`, "/>"), true],
  [
    "attributes with a prefix, far below its binding",
    numbered(`${deep('<a xmlns:p="u">')[0]}<a`, (name) => ` p:${name}=""`, `/>${deep("")[1]}`),
    true
  ],
  ["elements", filled("<b/>", ["<a>", "</a>"]), true],
  ["elements far below the root", filled("<b/>", deep("<a>")), true],
  ["elements with a prefix, far below its binding", filled("<p:b/>", deep('<a xmlns:p="u">')), true],
  ["one attribute of letters", filled("x", ['<a b="', '"/>']), true],
  ["one attribute of references", filled("&amp;", ['<a b="', '"/>']), true],
  ["one attribute of line breaks", filled("\r\n", ['<a b="', '"/>']), true],
  ["one namespace of white space", filled(" ", ['<a xmlns:p="', 'x" xmlns:q="x" p:b="" p:b=""/>']), false],
  ["references", filled("&lt;", ["<a>", "</a>"]), true],
  ["bare ampersands", filled("&", ["<a>", "</a>"]), false],
  ["references without an end", filled("&x", ["<a>", "</a>"]), false],
  ["one reference without an end", filled("x", ["<a>&", "</a>"]), false],
  ["comments", filled("<!---->", ["<a>", "</a>"]), true],
  ["comments before the root", filled("<!---->", ["", "<a/>"]), true],
  ["beginnings of comments", filled("<!--", ["<a>", ""]), false],
  ["beginnings of CDATA sections", filled("<![CDATA[", ["<a>", ""]), false],
  ["CDATA sections", filled("<![CDATA[x]]>", ["<a>", "</a>"]), true],
  ["processing instructions", filled("<?a?>", ["<a>", "</a>"]), true],
  ["processing instructions before the root", filled("<?a ??>", ["", "<a/>"]), true],
  ["closing brackets", filled("]", ["<a><![CDATA[", "]]></a>"]), true],
  ["hyphens", filled("-", ["<a><!--", "--></a>"]), false],
  ["question marks", filled("?", ["<?a ", "?><a/>"]), true],
  ["white space before the root", filled(" ", ["", "<a/>"]), true],
  ["line breaks before the root", filled("\r\n", ["", "<a/>"]), true],
  ["one long name", filled("a", ["<", "/>"]), false],
  ["one long name that is not closed", filled("a", ["<", ">"]), false],
  ["tax numbers below a long name", filled("<NIP/>", [`<a><b><${longName}>`, `</${longName}></b></a>`]), false],
  ["parties below a long name", filled("<Podmiot3/>", [`<${longName}>`, `</${longName}>`]), false],
  ["end tags", filled("</a>"), false],
  ["opening brackets", filled("<"), false],
  ["a document type of comments", filled("<!-- -->", ["<!DOCTYPE a [", "]><a/>"]), false],
  [
    "entities of entities",
    `<!DOCTYPE a [<!ENTITY e0 "x">${Array.from({ length: 30 }, (_, index) => `<!ENTITY e${index + 1} "${`&e${index};`.repeat(1000)}">`).join("")}]><a>&e30;</a>`,
    false
  ],
  ["white space in the number of the invoice", filled(" ", ["<a><Fa><P_2>x", "x</P_2></Fa></a>"]), true],
  ["references in the number of the invoice", filled("&#32;", ["<a><Fa><P_2>x", "x</P_2></Fa></a>"]), true],
  ["CDATA sections in the number of the invoice", filled("<![CDATA[ x]]>", ["<a><Fa><P_2>", "</P_2></Fa></a>"]), true],
  ["emoji", filled("😀", ["<a>", "</a>"]), true]
]
