import { assert, describe, it } from "@effect/vitest"
import { XmlTree } from "@govoice/ksef/xades"
import { StrictXml } from "@govoice/ksef/xml"
import * as fc from "fast-check"
import * as XmlValues from "../../src/format/XmlValues.ts"
import { document } from "../xml/arbitraries.ts"
import { corpus } from "../xml/corpus.ts"
import { hostile } from "../xml/hostile.ts"
import * as Libxml2 from "../xml/libxml2.ts"

// Runs are multiplied in the long tests.
const factor = Number(process.env["PROPERTY_FACTOR"] ?? 1)

/** The processor time of this process since a call of `process.cpuUsage`. Other load of the machine does not count. */
const processorMs = (start: NodeJS.CpuUsage): number => {
  const { system, user } = process.cpuUsage(start)
  return (system + user) / 1000
}

const actual = ({ attributes, children, name, text }: XmlValues.Values): Libxml2.Values => ({
  name,
  text,
  attributes: Array.from(attributes, ([name, value]) => `${name}=${value}`)
    .filter((attribute) => !attribute.startsWith("xmlns:xml="))
    .sort(),
  children: children.map(actual)
})

const compare = (xml: string): void => {
  const read = XmlValues.read(xml)
  assert.isDefined(read, xml)
  assert.strictEqual(read.namespace, XmlTree.parse(xml).root.namespace)
  assert.deepStrictEqual(actual(read), Libxml2.values(xml), xml)
}

describe("XmlValues", () => {
  it("reads the documents of the corpus that StrictXml accepts, with the values of libxml2, and no others", () => {
    for (const { xml } of Object.values(corpus).flat()) {
      if (StrictXml.read(xml) === undefined) compare(xml)
      else assert.isUndefined(XmlValues.read(xml), xml)
    }
  })

  it.prop("reads the values of libxml2 from random documents", [document], ([xml]) => compare(xml), {
    arbitrary: { runs: 400 * factor },
    timeout: 120_000
  })

  it.each(hostile)("reads a megabyte of %s in time, or refuses it", (_, xml, accepted) => {
    const start = process.cpuUsage()
    assert.strictEqual(XmlValues.read(xml) !== undefined, accepted)
    assert.isBelow(processorMs(start), 10_000)
  })

  it.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__defineGetter__"])(
    "reads elements and attributes named %s",
    (name) => {
      const root = XmlValues.read(`<a><${name} ${name}="1">x</${name}><${name}/></a>`)
      assert.deepStrictEqual(
        root?.children.map((child) => [child.name, child.text, child.attributes.get(name)]),
        [
          [name, "x", "1"],
          [name, "", undefined]
        ]
      )
    }
  )

  it("reads back the text that it wrote", () => {
    const text = fc
      .string({ unit: "binary", maxLength: 50 })
      .filter((text) => StrictXml.read(`<a>${escape(text)}</a>`) === undefined)
    fc.assert(
      fc.property(text, text, (first, second) => {
        const xml = XmlValues.write("a", "urn:x", [
          ["b", first],
          ["c", [["d", second]]],
          ["e", undefined]
        ])
        const root = XmlValues.read(xml)
        assert.isDefined(root)
        assert.strictEqual(root.namespace, "urn:x")
        assert.strictEqual(XmlValues.text(root, "b"), first)
        assert.strictEqual(XmlValues.text(root, "c", "d"), second)
        assert.isUndefined(XmlValues.text(root, "e"))
      }),
      { numRuns: 500 }
    )
  })

  it("collapses long white space in linear time", () => {
    assert.strictEqual(XmlValues.collapsed(" \n a \t b\r\n "), "a b")
    const start = process.cpuUsage()
    XmlValues.collapsed(`x${" ".repeat(1_000_000)}x`)
    assert.isBelow(processorMs(start), 10_000)
  })
})

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
