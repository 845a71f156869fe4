import { assert, describe, it } from "@effect/vitest"
import { StrictXml } from "@govoice/ksef/xml"
import { document, edited } from "./arbitraries.ts"
import { corpus } from "./corpus.ts"
import { hostile } from "./hostile.ts"
import * as Libxml2 from "./libxml2.ts"

// Runs are multiplied in the long tests.
const factor = Number(process.env["PROPERTY_FACTOR"] ?? 1)

const { read } = StrictXml

// Where libxml2 goes its own way: it takes a version `1.`, and it asks of a namespace that it be a URI.
const disputed = /malformed version|is not a valid URI/

describe("StrictXml", () => {
  for (const [topic, cases] of Object.entries(corpus)) {
    describe(`the corpus of ${topic}`, () => {
      it.each(cases)("has the verdict $verdict: $why", ({ verdict, xml }) => {
        assert.match(read(xml)?.message ?? "is good", wanted[verdict])
      })

      // Keeps the verdicts honest.
      it("has the verdicts of libxml2", () => {
        for (const { verdict, why, xml } of cases) {
          if (verdict !== "refused")
            assert.strictEqual(Libxml2.wellFormedness(xml) === undefined, verdict === "good", why)
        }
      })
    })
  }

  it("is tested with more than 250 documents, each once", () => {
    const cases = Object.values(corpus).flat()
    assert.isAbove(cases.length, 250)
    assert.strictEqual(new Set(cases.map(({ xml }) => xml)).size, cases.length)
  })

  describe("the fault of a document", () => {
    it.each<[what: string, xml: string, message: string, line: number, column: number]>([
      [
        "an end tag that does not match",
        "<a>\n  <b>\n  </c>\n</a>",
        "is not well-formed: close tag </c> found, </b> expected; <b> begins at line 2, column 3",
        3,
        6
      ],
      ["an element that is not closed", "<a>\n<b>\n</b>", "is not well-formed: unclosed tag: a", 3, 4],
      ["an attribute given twice", '<a b="1"\n  b="2"/>', "is not well-formed: duplicate attribute: b", 2, 9],
      [
        "a malformed version",
        '<?xml version="one"?><a/>',
        'is not well-formed: the XML declaration has a malformed version; write version="1.0"',
        1,
        19
      ],
      [
        "a malformed encoding",
        '<?xml version="1.0" encoding="UTF 8"?><a/>',
        'is not well-formed: the XML declaration has a malformed encoding; write encoding="UTF-8"',
        1,
        36
      ],
      [
        "a declaration without a version",
        '<?xml encoding="UTF-8"?><a/>',
        "is not well-formed: the XML declaration must go on with version",
        1,
        15
      ],
      [
        "a long name that does not match",
        `<${"a".repeat(90)}></${"b".repeat(90)}>`,
        `is not well-formed: close tag </${"b".repeat(32)}…> found, </${"a".repeat(32)}…> expected; <${"a".repeat(32)}…> begins at line 1, column 1`,
        1,
        185
      ],
      [
        "an unknown entity",
        "<a>\r\n&nbsp;</a>",
        'is not well-formed: undefined entity "&nbsp;"; write the character itself',
        2,
        6
      ],
      [
        "a name that is too long",
        `<a>\n<p:${"b".repeat(101)} xmlns:p="u"/></a>`,
        "must have no element whose name is longer than 100 characters",
        2,
        118
      ],
      ["a control character", "<a>\r\r\u0007</a>", "is not well-formed: disallowed character: U+0007", 3, 1],
      ["a bracket in an attribute", '<a b="x<y"/>', "is not well-formed: disallowed character: U+003C", 1, 8],
      [
        "a bare ampersand",
        "<a>\n<b>x & y</b>\n<c>;</c></a>",
        "is not well-formed: ampersand that begins no reference; write &amp;",
        2,
        6
      ],
      [
        "an ampersand after others that are none",
        "<a><!-- & --><![CDATA[&]]><?p &?>&amp;&x</a>",
        "is not well-formed: ampersand that begins no reference; write &amp;",
        1,
        39
      ],
      [
        "a processing instruction without the space",
        "<a>\n<!-- <?p?x?> --><?p x?>\n<?p?x?></a>",
        "is not well-formed: no space after the target of a processing instruction",
        3,
        1
      ],
      ["a comment that is not closed", "<a>\n <!-- x\n</a>", "is not well-formed: unclosed comment", 2, 2],
      ["CDATA that is not closed", "<a><![CDATA[x</a>", "is not well-formed: unclosed CDATA section", 1, 4],
      [
        "a processing instruction that is not closed",
        "<a><?p x></a>",
        "is not well-formed: unclosed processing instruction",
        1,
        4
      ],
      ["a prefix that nothing binds", "<a>\n<p:b/></a>", 'is not well-formed: unbound namespace prefix: "p"', 2, 6],
      ["half a surrogate pair", "<a>\n😀\ud83d</a>", "is not well-formed: unpaired surrogate", 2, 2],
      [
        "a document type",
        "<!-- x -->\n <!DOCTYPE a>\n<a/>",
        "must not have a document type declaration (DOCTYPE)",
        2,
        2
      ],
      [
        "a document type after a byte order mark",
        "\uFEFF<!DOCTYPE a><a/>",
        "must not have a document type declaration (DOCTYPE)",
        1,
        1
      ],
      [
        "a document type on a line after a byte order mark",
        "\uFEFF<?p?>\n <!DOCTYPE a><a/>",
        "must not have a document type declaration (DOCTYPE)",
        2,
        2
      ],
      [
        "a document type right after a processing instruction",
        "<?p?><!DOCTYPE a><a/>",
        "must not have a document type declaration (DOCTYPE)",
        1,
        6
      ],
      [
        "a document type that is itself malformed",
        "<!DOCTYPE a [<!-- -- -->]><a/>",
        "must not have a document type declaration (DOCTYPE)",
        1,
        1
      ],
      ["another version", '<?xml version="1.1"?><a/>', "must be XML 1.0, and its declaration says 1.1", 1, 20],
      [
        "another encoding",
        '<?xml version="1.0" encoding="windows-1250"?><a/>',
        "must be UTF-8, and its declaration says windows-1250",
        1,
        44
      ],
      [
        "a column counted in code points",
        "<a>😀😀\u0001</a>",
        "is not well-formed: disallowed character: U+0001",
        1,
        6
      ],
      [
        "a column after a byte order mark",
        "\uFEFF<a>\u0001</a>",
        "is not well-formed: disallowed character: U+0001",
        1,
        4
      ],
      [
        "a line after a byte order mark",
        "\uFEFF<a>\n x\u0001</a>",
        "is not well-formed: disallowed character: U+0001",
        2,
        3
      ],
      ["an empty document", "", "is not well-formed: document must contain a root element", 1, 1]
    ])("has its position and message: %s", (_, xml, message, line, column) => {
      assert.deepStrictEqual(read(xml), { message, line, column })
    })

    it("has a message of less than 250 characters for a name of any length", () => {
      const name = "😀".repeat(100_000).replaceAll("😀", "\u{10400}")
      const fault = read(`<${name}>`)
      assert.isBelow(fault?.message.length ?? Infinity, 250)
      assert.isTrue(fault?.message.isWellFormed())
    })
  })

  describe("nesting", () => {
    const nested = (depth: number): string => "<a>".repeat(depth) + "</a>".repeat(depth)

    it("is accepted up to 128 levels", () => {
      assert.isUndefined(read(nested(StrictXml.maxDepth)))
    })

    it("is refused at the start of level 129", () => {
      assert.deepStrictEqual(read(nested(StrictXml.maxDepth + 1)), {
        message: "must not nest elements deeper than 128 levels",
        line: 1,
        column: 128 * 3 + 3
      })
    })

    it("is not limited by the number of elements", () => {
      assert.isUndefined(read(`<a>${"<b><c/></b>".repeat(1000)}</a>`))
    })
  })

  describe("limits", () => {
    const limits: StrictXml.Limits = { maxElements: 1000, maxAttributes: 64 }
    const elements = (count: number): string => `<a>\n${"<b/>".repeat(count - 1)}</a>`
    const attributes = (count: number): string =>
      `<a xmlns:p="u"><b xmlns="v"${Array.from({ length: count - 1 }, (_, index) => ` p:a${index}=""`).join("")}/></a>`

    it("accept a document of exactly 1,000 elements, and one of 64 attributes", () => {
      assert.isUndefined(read(elements(1000), undefined, limits))
      assert.isUndefined(read(attributes(64).repeat(1), undefined, limits))
    })

    it("refuse one element more, where it begins", () => {
      assert.deepStrictEqual(read(elements(1001), undefined, limits), {
        message: "must have no more than 1,000 elements",
        line: 2,
        column: 999 * 4 + 4
      })
    })

    it("refuse one attribute more, namespace declarations included, before the rest is read", () => {
      const fault = read(attributes(65), undefined, limits)
      assert.strictEqual(fault?.message, "must have no more than 64 attributes on one element")
      assert.deepStrictEqual(read(attributes(100_000), undefined, limits), fault)
    })

    it("count the attributes of each element alone", () => {
      const b = `<b ${Array.from({ length: 64 }, (_, index) => `a${index}=""`).join(" ")}/>`
      assert.isUndefined(read(`<a>${b.repeat(10)}</a>`, undefined, limits))
    })
  })

  describe("namespaces", () => {
    const namespaces = (xml: string): ReadonlyArray<string> => {
      const found: Array<string> = []
      const open = ({ name, namespace }: StrictXml.Element) => found.push(`${name} ${namespace}`.trim())
      assert.isUndefined(read(xml, { open, text: () => undefined, close: () => undefined }))
      return found
    }

    it.each<[what: string, xml: string, namespaces: ReadonlyArray<string>]>([
      ["applies to the element that declares it", '<p:a xmlns:p="u"/>', ["a u"]],
      ["applies to what is inside", '<a xmlns="u" xmlns:p="v"><b><p:c/></b></a>', ["a u", "b u", "c v"]],
      ["ends with its element", '<a xmlns="u"><b xmlns="v"><c/></b><d/></a>', ["a u", "b v", "c v", "d u"]],
      ["ends with an empty element", '<p:a xmlns:p="u"><p:b xmlns:p="v"/><p:c/></p:a>', ["a u", "b v", "c u"]],
      ["is undeclared for the default", '<a xmlns="u"><b xmlns=""><c/></b><d/></a>', ["a u", "b", "c", "d u"]],
      ["is trimmed", '<a xmlns=" u "/>', ["a u"]],
      ["is fixed for xml", "<xml:a/>", ["a http://www.w3.org/XML/1998/namespace"]]
    ])("a declaration %s", (_, xml, expected) => {
      assert.deepStrictEqual(namespaces(xml), expected)
    })

    it.each([
      '<a><b xmlns:p="u"/><p:c/></a>',
      '<a><b xmlns:p="u"></b><p:c/></a>',
      '<a><b p:c=""/></a>',
      "<toString:a/>"
    ])("a prefix is unbound outside of the element that declares it: %s", (xml) => {
      assert.match(read(xml)?.message ?? "", /unbound namespace prefix/)
    })

    // In CPU time, because machines are shared. With a search through the open elements it is 5 to 8 times as much.
    it("take less than three times the processor time in nested elements as in a flat document", () => {
      const flat = `<a xmlns="u">${"<b/>".repeat(100_000)}</a>`
      const nested = `<a xmlns="u">${"<c>".repeat(120)}${"<b/>".repeat(100_000)}${"</c>".repeat(120)}</a>`
      const cpuMs = (xml: string): number => {
        const before = process.cpuUsage()
        for (let time = 0; time < 5; time++) assert.isUndefined(read(xml))
        const { system, user } = process.cpuUsage(before)
        return (system + user) / 1000
      }
      cpuMs(flat)
      // The least of several measurements, because a garbage collection in one of them counts.
      let least = Infinity
      for (let time = 0; time < 10 && least >= 3; time++) least = Math.min(least, cpuMs(nested) / cpuMs(flat))
      assert.isBelow(least, 3)
    })
  })

  describe("the visitor of a document", () => {
    it("receives elements, attributes and text in their order", () => {
      const told: Array<string> = []
      const fault = read(
        '<p:a xmlns:p="urn:x" b="&lt;1"><c xmlns="urn:y">x&#65;<!-- - --><![CDATA[<>]]></c>\r\n</p:a>',
        {
          open: ({ attribute, name, namespace }) => told.push(`{${namespace}}${name} ${attribute("b") ?? "-"}`),
          text: (text) => told.push(text),
          close: () => told.push("close")
        }
      )
      assert.isUndefined(fault)
      assert.deepStrictEqual(told, ["{urn:x}a <1", "{urn:y}c -", "xA", "<>", "close", "\n", "close"])
    })

    it("does not change the verdict", () => {
      const visitor: StrictXml.Visitor = { open: () => undefined, text: () => undefined, close: () => undefined }
      for (const { xml } of Object.values(corpus).flat()) assert.deepStrictEqual(read(xml, visitor), read(xml))
    })

    it("can throw, and the caller receives the error", () => {
      const open = (): never => {
        throw new RangeError("of the visitor")
      }
      assert.throws(() => read("<a/>", { open, text: () => undefined, close: () => undefined }), "of the visitor")
    })
  })

  // Measured well under half a second each; a cost that grows faster than the document would be minutes.
  it.each(hostile)("reads or refuses a megabyte of %s within 20 seconds", (_, xml, taken) => {
    const start = performance.now()
    assert.strictEqual(read(xml) === undefined, taken)
    assert.isBelow(performance.now() - start, 20_000)
  })

  it.prop(
    "accepts random well-formed documents",
    [document],
    ([xml]) => {
      assert.isUndefined(read(xml), xml)
      assert.isUndefined(Libxml2.wellFormedness(xml), xml)
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "agrees with libxml2 about random documents with a mistake",
    [edited],
    ([xml]) => {
      const fault = read(xml)
      if (fault?.message.startsWith("must ")) return
      const other = Libxml2.wellFormedness(xml)
      if (disputed.test(fault?.message ?? "") || disputed.test(other ?? "")) return
      assert.strictEqual(fault === undefined, other === undefined, `${xml}\n${fault?.message}\n${other}`)
    },
    { arbitrary: { runs: 2000 * factor }, timeout: 120_000 }
  )
})

// A document type is refused before it is looked at, whether it is malformed or not.
const wanted = {
  good: /^is good$/,
  bad: /^is not well-formed: .|^must not have a document type/,
  refused: /^must /
} as const
