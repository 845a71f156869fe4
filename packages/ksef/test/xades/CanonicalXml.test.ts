import { assert, describe, it } from "@effect/vitest"
import { CanonicalXml, XmlTree } from "@govoice/ksef/xades"
import { StrictXml } from "@govoice/ksef/xml"
import * as fc from "fast-check"
import * as Libxml2 from "../xml/libxml2.ts"

const { exclusive } = CanonicalXml

const canonical = (xml: string, method: CanonicalXml.Method = exclusive): string =>
  CanonicalXml.write(XmlTree.parse(xml), method)

// One character each, so that a document declares prefixes again and takes them back often.
const prefix = fc.constantFrom("", "p", "q", "é")
// Without ampersands, which libxml2 does not escape in namespaces.
const namespace = fc.constantFrom("urn:a", "urn:b", "http://example.com/%C3%A9")
const local = fc.constantFrom("a", "b", "B", "_", "ż", "\u{10400}", "\uFB00")
const text = fc
  .array(
    fc.constantFrom(
      "x",
      "&amp;",
      "&lt;",
      "&gt;",
      "&#13;",
      "&#xA;",
      "&#9;",
      "'",
      "&quot;",
      "\r\n",
      "\r",
      "\t",
      "😀",
      "\u0085"
    ),
    { maxLength: 4 }
  )
  .map((parts) => parts.join(""))
const value = text
const markup = fc.oneof(
  text,
  text.map((text) => `<![CDATA[${text.replaceAll("]]>", "")}]]>`),
  fc.constantFrom("<!-- c -->", "<!---->", "<?p?>", "<?p  x ?>", '<?p a="1"\r\n?>')
)

interface Shape {
  readonly prefix: string
  readonly name: string
  readonly declared: ReadonlyArray<readonly [prefix: string, namespace: string]>
  readonly attributes: ReadonlyArray<{ readonly prefix: string; readonly name: string; readonly value: string }>
  readonly children: ReadonlyArray<string | Shape>
}

const shape = fc.letrec<{ element: Shape }>((tie) => ({
  element: fc.record({
    prefix,
    name: local,
    declared: fc.uniqueArray(fc.tuple(prefix, namespace), { selector: ([prefix]) => prefix, maxLength: 3 }),
    attributes: fc.uniqueArray(
      fc.record({
        prefix: fc.oneof(prefix, fc.constant("xml")),
        name: fc.oneof(local, fc.constantFrom("lang", "space")),
        value
      }),
      { selector: ({ name }) => name, maxLength: 3 }
    ),
    children: fc.array(fc.oneof({ depthSize: "small", withCrossShrink: true }, markup, tie("element")), {
      maxLength: 4
    })
  })
})).element

/** Writes a shape with every prefix bound, now and then by a declaration that changes nothing. */
const written = (shape: Shape, bound: ReadonlyMap<string, string> = new Map()): string => {
  const declared = new Map(shape.declared)
  const scope = new Map([...bound, ...declared])
  for (const { prefix } of [shape, ...shape.attributes]) {
    if (prefix === "" || prefix === "xml" || scope.has(prefix)) continue
    declared.set(prefix, "urn:a")
    scope.set(prefix, "urn:a")
  }
  const tag = shape.prefix === "" ? shape.name : `${shape.prefix}:${shape.name}`
  const declarations = [...declared].map(([prefix, uri]) => ` xmlns${prefix === "" ? "" : `:${prefix}`}="${uri}"`)
  const attributes = shape.attributes.map(
    ({ name, prefix, value }) => ` ${prefix === "" ? name : `${prefix}:${name}`}="${value.replaceAll('"', "&quot;")}"`
  )
  const children = shape.children.map((child) => (typeof child === "string" ? child : written(child, scope)))
  return `<${tag}${[...attributes, ...declarations].join("")}>${children.join("")}</${tag}>`
}

const document = fc
  .tuple(fc.constantFrom("", "<!-- a --><?b c?>\n"), shape, fc.constantFrom("", "\n<?b?><!-- a -->"))
  .map(([before, root, after]) => before + written(root) + after)

const method = fc.record(
  {
    form: fc.constantFrom("inclusive-1.0", "inclusive-1.1", "exclusive"),
    withComments: fc.boolean(),
    inclusivePrefixes: fc.uniqueArray(fc.constantFrom("p", "q", "é"), { maxLength: 2 })
  },
  { requiredKeys: ["form", "withComments"] }
) as fc.Arbitrary<CanonicalXml.Method>

describe("CanonicalXml", () => {
  it("writes a document as libxml2 does, in each form", () => {
    fc.assert(
      fc.property(document, method, (xml, method) => {
        assert.isUndefined(StrictXml.read(xml), xml)
        assert.strictEqual(canonical(xml, method), Libxml2.canonical(xml, method))
      }),
      { numRuns: 3000 }
    )
  })

  it("writes an element as libxml2 does, in each form", () => {
    fc.assert(
      fc.property(document, method, fc.nat(), (xml, method, index) => {
        const elements = XmlTree.elements(XmlTree.parse(xml).root)
        const at = index % elements.length
        assert.strictEqual(
          CanonicalXml.write(elements[at]!, method),
          Libxml2.canonical(xml, { ...method, element: `(//*)[${at + 1}]` })
        )
      }),
      { numRuns: 3000 }
    )
  })

  it("leaves a document in canonical form unchanged", () => {
    fc.assert(
      fc.property(document, method, (xml, method) => {
        const once = canonical(xml, method)
        assert.strictEqual(canonical(once, method), once)
      })
    )
  })

  it.each<[what: string, xml: string, canonical: string]>([
    ["white space in tags and quotes", "<a  b = '1'   ></a >", '<a b="1"></a>'],
    ["empty elements", "<a/>", "<a></a>"],
    [
      "the order of attributes",
      '<a c="3" xmlns:p="urn:p" p:b="2" a="1"/>',
      '<a xmlns:p="urn:p" a="1" c="3" p:b="2"></a>'
    ],
    [
      "characters of attributes",
      `<a b='"&lt;&gt;&amp;&#9;&#10;&#13;'/>`,
      '<a b="&quot;&lt;>&amp;&#x9;&#xA;&#xD;"></a>'
    ],
    ["characters of text", `<a>"&lt;&gt;&amp;&#9;&#13;</a>`, '<a>"&lt;&gt;&amp;\t&#xD;</a>'],
    ["line ends", "<a>\r\n\r</a>", "<a>\n\n</a>"],
    ["CDATA", "<a><![CDATA[<&>]]></a>", "<a>&lt;&amp;&gt;</a>"],
    ["an ampersand in a namespace", '<a xmlns="urn:a&amp;b"/>', '<a xmlns="urn:a&amp;b"></a>'],
    ["declarations that are not used", '<p:a xmlns:p="urn:p" xmlns:q="urn:q"/>', '<p:a xmlns:p="urn:p"></p:a>'],
    [
      "declarations where they are first used",
      '<a xmlns:p="urn:p"><p:b/><p:c/></a>',
      '<a><p:b xmlns:p="urn:p"></p:b><p:c xmlns:p="urn:p"></p:c></a>'
    ],
    [
      "a default namespace that is taken back",
      '<a xmlns="urn:a"><b xmlns=""><c/></b></a>',
      '<a xmlns="urn:a"><b xmlns=""><c></c></b></a>'
    ],
    ["the declaration and the byte order mark", '\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n<a/>\n', "<a></a>"],
    ["comments", "<!-- x --><a><!-- y -->z</a>", "<a>z</a>"],
    ["instructions around the root", "<?b c?> <a/> <?d?>", "<?b c?>\n<a></a>\n<?d?>"]
  ])("normalizes %s", (_, xml, wanted) => {
    assert.strictEqual(canonical(xml), wanted)
  })

  it("omits the excluded element with its content, and nothing around it", () => {
    const tree = XmlTree.parse("<a> <b><c/></b>\n<b/></a>")
    const [first] = XmlTree.childElements(tree.root, "", "b")
    assert.strictEqual(CanonicalXml.write(tree, exclusive, first), "<a> \n<b></b></a>")
    assert.strictEqual(CanonicalXml.write(tree, exclusive, tree.root), "")
  })
})
