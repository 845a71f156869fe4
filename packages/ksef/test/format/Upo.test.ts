import { assert, describe, it } from "@effect/vitest"
import { Upo } from "@govoice/ksef/format"
import * as fc from "fast-check"
import { upoSamples, upoSchema } from "../fixtures.ts"
import * as Libxml2 from "../xml/libxml2.ts"

const upo: Omit<Upo.Upo, "isSigned"> = {
  receivingEntity: "Ministerstwo Finansów",
  sessionReference: "20250625-SO-2C3E6C8000-B675CF5D68-07",
  context: { type: "Nip", value: "5265877635" },
  tokenReference: "20251010-EC-1DCE3E3000-12ECB5B36E-45",
  loginDocumentHash: undefined,
  logicalStructure: "Schemat_FA(3)_v1-0E.xsd",
  formCode: "FA (3)",
  invoices: [
    {
      sellerNip: "5265877635",
      ksefNumber: "5265877635-20250626-010080DD2B5E-26",
      invoiceNumber: "FV/1 & <2>",
      issueDate: "2025-06-26",
      sentAt: "2025-06-26T11:05:40.841+02:00",
      numberedAt: "2025-06-26T11:05:41.000+02:00",
      documentHash: "usvnYg2O7r4adAY/i96KIU5izLzDXRz0LRy5WznMY6w=",
      mode: "Online"
    }
  ]
}

describe("Upo", () => {
  it.each([...upoSamples.keys()])("reads the published sample %s", (file) => {
    const xml = upoSamples.get(file)!
    const read = Upo.read(xml)
    assert.isDefined(read)
    assert.match(read.receivingEntity, /^Ministerstwo Finansów - środowisko testowe/)
    assert.match(read.sessionReference, /^[0-9A-F]{8}-[0-9A-Z]{2}-/)
    const documents = xml.match(/<Dokument>/g) ?? []
    assert.strictEqual(read.invoices.length, documents.length)
    for (const invoice of read.invoices) {
      assert.match(invoice.ksefNumber, /^\d{10}-\d{8}-[0-9A-F]{12}-[0-9A-F]{2}$/)
      assert.strictEqual(invoice.documentHash.length, 44)
    }
    assert.strictEqual(read.isSigned, xml.includes("Signature"))
    assert.include(xml, read.context.value)
    assert.isTrue(read.tokenReference !== undefined || read.loginDocumentHash !== undefined)
  })

  it.each([...upoSamples.keys()])("writes the sample %s so that the same values are read back", (file) => {
    const read = Upo.read(upoSamples.get(file)!)!
    assert.deepStrictEqual(Upo.read(Upo.write(read)), { ...read, isSigned: false })
  })

  it("writes a receipt that is valid against the schema of the Ministry", () => {
    assert.isUndefined(Libxml2.validity(upoSchema, Upo.write(upo)))
    const byDocument = { ...upo, tokenReference: undefined, loginDocumentHash: upo.invoices[0]!.documentHash }
    assert.isUndefined(Libxml2.validity(upoSchema, Upo.write(byDocument)))
    assert.isDefined(Libxml2.validity(upoSchema, Upo.write({ ...upo, sessionReference: "x" })))
  })

  it("reads back every text that it wrote, without white space at the ends", () => {
    const text = fc
      .stringMatching(/^[!-~ĄąĆ😀](?:[ -~ĄąĆ😀]{0,20}[!-~ĄąĆ😀])?$/u)
      .filter((text) => !text.includes("  "))
    fc.assert(
      fc.property(text, text, (invoiceNumber, formCode) => {
        const given = { ...upo, formCode, invoices: [{ ...upo.invoices[0]!, invoiceNumber }] }
        assert.deepStrictEqual(Upo.read(Upo.write(given)), { ...given, isSigned: false })
      })
    )
  })

  it("reports a receipt as signed for a signature with any prefix", () => {
    const signed = (signature: string) =>
      Upo.read(Upo.write(upo).replace("</Potwierdzenie>", `${signature}</Potwierdzenie>`))?.isSigned
    assert.isTrue(signed('<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>'))
    assert.isTrue(signed('<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>'))
    assert.isFalse(signed("<!-- <Signature/> -->"))
  })

  it.each<[what: string, xml: string]>([
    ["HTML", "<!DOCTYPE html><html></html>"],
    ["nothing", ""],
    ["another root", Upo.write(upo).replaceAll("Potwierdzenie", "Faktura")],
    ["another namespace", Upo.write(upo).replace("v4-3", "v4-2")],
    ["a missing member", Upo.write(upo).replace(/<NumerReferencyjnySesji>.*<\/NumerReferencyjnySesji>/, "")],
    ["a missing member of an invoice", Upo.write(upo).replace(/<SkrotDokumentu>.*<\/SkrotDokumentu>/, "")],
    ["no invoice", Upo.write({ ...upo, invoices: [] })],
    ["a document that is cut off", Upo.write(upo).slice(0, -10)]
  ])("returns undefined for %s", (_, xml) => {
    assert.isUndefined(Upo.read(xml))
  })
})
