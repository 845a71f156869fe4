import { assert, describe, it } from "vitest"
import { load } from "../../src/checks/Libxml2.ts"

const importing = (name: string) => `
  <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:${name}">
    <xs:import namespace="urn:${name}" schemaLocation="https://example.com/${name}.xsd"/>
    <xs:element name="a" type="t:Digit"/>
  </xs:schema>`

const imported = (name: string) => `
  <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:${name}">
    <xs:simpleType name="Digit"><xs:restriction base="xs:string"><xs:pattern value="[0-9]"/></xs:restriction></xs:simpleType>
  </xs:schema>`

describe("Libxml2.load", () => {
  it("reads the files of each of 20 calls in one process", async () => {
    for (let n = 0; n < 20; n++) {
      const address = `https://example.com/n${n}.xsd`
      const { compile } = await load({ [address]: new TextEncoder().encode(imported(`n${n}`)) })
      const schema = compile(importing(`n${n}`), "https://example.com/")
      const faults: Array<string> = []
      schema.validate("<a>1</a>", ({ message }) => faults.push(message))
      assert.deepStrictEqual(faults, [])
      schema.validate("<a>x</a>", ({ message }) => faults.push(message))
      assert.isAbove(faults.length, 0)
    }
  })

  it("reads no other file", async () => {
    const { compile } = await load({})
    assert.throws(() => compile(importing("other"), "https://example.com/"), /is not valid/)
  })
})
