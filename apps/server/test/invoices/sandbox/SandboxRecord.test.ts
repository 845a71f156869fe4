import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { KsefNumber, ReferenceNumber, Upo } from "@govoice/ksef/format"
import * as SandboxRecord from "../../../src/invoices/sandbox/SandboxRecord.ts"
import { StrictXml } from "@govoice/ksef/xml"
import * as Libxml2 from "../../../../../packages/ksef/test/xml/libxml2.ts"
import {
  documentOf,
  importedSchemas,
  invoice,
  invoiceSchema,
  invoiceXml,
  upoSamples,
  upoSchema,
  withXml
} from "./samples.ts"

const upoOf = (source: SandboxRecord.Source): string =>
  new TextDecoder("utf-8", { fatal: true }).decode(SandboxRecord.receipt(source))

// The schema allows only the name of the production system; the samples of the test system violate it in the same way.
const renamed = (upo: string): string => upo.replace(/(<NazwaPodmiotuPrzyjmujacego>)[^<]*/, "$1Ministerstwo Finansów")

/** The elements of a document in their order, each with its path and its text. */
const leaves = (xml: string): ReadonlyArray<readonly [path: string, text: string]> => {
  const path: Array<string> = []
  const found: Array<[string, string]> = []
  const fault = StrictXml.read(xml, {
    open: ({ name }) => {
      path.push(name)
      found.push([path.join("/"), ""])
    },
    text: (text) => {
      const last = found.at(-1)
      if (last !== undefined && last[0] === path.join("/")) last[1] += text
    },
    close: () => void path.pop()
  })
  assert.isUndefined(fault)
  return found.map(([place, text]) => [place, /^[\t\n\r ]*$/.test(text) ? "" : text] as const)
}

const valueOf = (xml: string, name: string): string | undefined =>
  leaves(xml).find(([path]) => path.endsWith(`/${name}`))?.[1]

describe("the samples", () => {
  it("of receipts are valid only after the receiving entity is renamed", () => {
    assert.strictEqual(upoSamples.size, 6)
    for (const [file, xml] of upoSamples) {
      assert.isUndefined(Libxml2.validity(upoSchema, renamed(xml)), file)
      assert.match(Libxml2.validity(upoSchema, xml) ?? "", /fixed value/, file)
    }
  })

  it("of invoices is valid", () => {
    assert.isUndefined(Libxml2.validity(invoiceSchema, invoiceXml, importedSchemas))
    assert.isDefined(Libxml2.validity(invoiceSchema, invoiceXml.replace("<P_15>", "<P_15>x"), importedSchemas))
  })
})

describe("SandboxRecord", () => {
  describe("the official number", () => {
    it("begins with the seller's tax number and the Polish day", () => {
      const number = SandboxRecord.officialNumber(invoice)
      assert.match(number, /^5265877635-20261120-[0-9A-F]{12}-[0-9A-F]{2}$/)
      assert.isTrue(KsefNumber.isValid(number))
    })

    it("has the day in Poland if it differs from the day in UTC", () => {
      const late = { ...invoice, created_at: new Date("2026-12-31T23:30:00Z") }
      assert.strictEqual(SandboxRecord.officialNumber(late).slice(11, 19), "20270101")
    })

    it.each<[what: string, nip: string | undefined]>([
      ["none", undefined],
      ["an empty one", ""],
      ["a short one", "526587763"],
      ["a long one", "52658776350"],
      ["one with hyphens", "526-58-77-635"],
      ["one with a country", "PL5265877635"],
      ["one in other digits", "٥٢٦٥٨٧٧٦٣٥"]
    ])("begins with ten zeros where the tax number is %s", (_, nip) => {
      const number = SandboxRecord.officialNumber(withXml(nip === undefined ? {} : { nip }))
      assert.isTrue(number.startsWith("0000000000-20261120-"))
      assert.isTrue(KsefNumber.isValid(number))
    })

    it("is unique to the invoice", () => {
      const ids = Array.from({ length: 1000 }, (_, index) => `inv_${index}` as const)
      const numbers = ids.map((id) => SandboxRecord.officialNumber({ ...withXml({}), id }))
      assert.strictEqual(new Set(numbers).size, 1000)
    })
  })

  describe("the receipt", () => {
    const upo = upoOf(invoice)

    it("is valid against the national schema except for the name of the receiving entity", () => {
      assert.isUndefined(Libxml2.validity(upoSchema, renamed(upo)))
      assert.match(Libxml2.validity(upoSchema, upo) ?? "", /NazwaPodmiotuPrzyjmujacego/)
    })

    it("has the elements of a national receipt in their order", () => {
      const order = (xml: string): ReadonlyArray<string> =>
        leaves(xml).map(([path]) => path.replace(/SkrotDokumentuUwierzytelniajacego|NumerReferencyjnyTokenaKSeF/, "x"))
      assert.deepStrictEqual(order(upo), order(upoSamples.get("upo-faktura-kontekst-id-nip.xml") ?? ""))
      assert.include(upo, `<Potwierdzenie xmlns="${Upo.namespace}">`)
    })

    it("names the sandbox in the text of an element", () => {
      assert.match(valueOf(upo, "NazwaPodmiotuPrzyjmujacego") ?? "", /\bsandbox\b/)
      assert.isAtMost(SandboxRecord.receivingEntity.length, 240)
    })

    it("has no signature", () => {
      assert.notInclude(upo, "Signature")
    })

    it("confirms this invoice", () => {
      const session = valueOf(upo, "NumerReferencyjnySesji") ?? ""
      const token = valueOf(upo, "NumerReferencyjnyTokenaKSeF") ?? ""
      assert.isTrue(ReferenceNumber.isValid(session) && session.startsWith("20261120-SO-"))
      assert.isTrue(ReferenceNumber.isValid(token) && token.startsWith("20261120-EC-"))
      assert.deepStrictEqual(
        [
          "Nip",
          "NazwaStrukturyLogicznej",
          "KodFormularza",
          "NipSprzedawcy",
          "NumerFaktury",
          "DataWystawieniaFaktury"
        ].map((name) => valueOf(upo, name)),
        ["5265877635", "Schemat_FA(3)_v1-0E.xsd", "FA (3)", "5265877635", "FV/2026/11/0001", "2026-11-20"]
      )
      assert.strictEqual(valueOf(upo, "NumerKSeFDokumentu"), SandboxRecord.officialNumber(invoice))
      assert.strictEqual(valueOf(upo, "DataPrzeslaniaDokumentu"), "2026-11-20T09:15:30.045+01:00")
      assert.strictEqual(valueOf(upo, "DataNadaniaNumeruKSeF"), "2026-11-20T09:15:30.045+01:00")
      assert.strictEqual(valueOf(upo, "TrybWysylki"), "Online")
    })

    it("has the hash of the submitted bytes, the byte order mark among them", () => {
      const hash = (xml: string) => createHash("sha256").update(Buffer.from(xml, "utf8")).digest("base64")
      // Computed with sha256sum on the file.
      assert.strictEqual(valueOf(upo, "SkrotDokumentu"), "usvnYg2O7r4adAY/i96KIU5izLzDXRz0LRy5WznMY6w=")
      for (const xml of [`\uFEFF${invoiceXml}`, `${invoiceXml}\r\n`, invoiceXml.replace("testowa", "😀")]) {
        assert.strictEqual(valueOf(upoOf({ ...invoice, ...documentOf(xml) }), "SkrotDokumentu"), hash(xml))
      }
    })

    it("calls an invoice offline that is dated before the day in Poland", () => {
      const mode = (p1: string) => valueOf(upoOf(withXml({ p1 })), "TrybWysylki")
      assert.deepStrictEqual(
        [mode("2026-11-19"), mode("2026-11-20"), mode("2026-11-21")],
        ["Offline", "Online", "Online"]
      )
    })

    it("calls an invoice offline that was issued so", () => {
      assert.strictEqual(valueOf(upoOf({ ...invoice, invoicing_mode: "offline" }), "TrybWysylki"), "Offline")
    })

    it("has the same bytes for the same invoice", () => {
      const other = {
        ...invoice,
        attempt_count: 7,
        scenario: "delayed",
        organization_id: "org_other"
      } as const
      assert.deepStrictEqual(SandboxRecord.receipt(other), SandboxRecord.receipt(invoice))
      assert.notDeepEqual(SandboxRecord.receipt({ ...invoice, id: "inv_other" }), SandboxRecord.receipt(invoice))
    })

    it.each<[what: string, p2: string, shown: string]>([
      ["markup", "&lt;b>&amp;amp;&lt;/b>", "<b>&amp;</b>"],
      ["the end of the element", "&lt;/NumerFaktury>&lt;NumerFaktury>x", "</NumerFaktury><NumerFaktury>x"],
      ["the end of CDATA", "]]&gt;", "]]>"],
      ["CDATA", "<![CDATA[<!-- & -->]]>", "<!-- & -->"],
      ["a document type", "<![CDATA[<!DOCTYPE x>]]>", "<!DOCTYPE x>"],
      ["quotes", `"'`, `"'`],
      ["line breaks, which a token has not", "&#13;&#10;FV&#9;1&#13;", "FV 1"],
      ["a no-break space alone", "\u00a0", "\u00a0"],
      ["emoji", "😀 ż", "😀 ż"],
      ["control characters that XML allows", "a\u0085b\u007f", "a\u0085b\u007f"],
      ["256 characters", "😀".repeat(256), "😀".repeat(256)],
      ["more than 256 characters", `${"😀".repeat(255)}xy`, `${"😀".repeat(255)}x`],
      ["a space where it is cut", `${"x".repeat(255)} y`, "x".repeat(255)],
      ["nothing", "", "brak numeru"]
    ])("is valid and says the same with %s for a number", (_, p2, shown) => {
      const xml = upoOf(withXml({ nip: "5265877635", p2 }))
      assert.strictEqual(valueOf(xml, "NumerFaktury"), shown)
      assert.isUndefined(Libxml2.validity(upoSchema, renamed(xml)))
      assert.strictEqual(leaves(xml).length, leaves(upo).length)
    })

    it.each(["2026-02-30", "2026-13-01", "26-01-01", "2005-12-31", "2026-01-01Z", "yesterday", "", "2027-02-29"])(
      "has the day of arrival where the date of issue is %j",
      (p1) => {
        const xml = upoOf(withXml({ nip: "5265877635", p1 }))
        assert.strictEqual(valueOf(xml, "DataWystawieniaFaktury"), "2026-11-20")
        assert.isUndefined(Libxml2.validity(upoSchema, renamed(xml)))
      }
    )

    it.each<[what: string, form: string, code: string, structure: string]>([
      ["none", "", "FA (3)", "Schemat_FA(3)_v1-0E.xsd"],
      ["another", '<KodFormularza kodSystemowy="PEF (3)" wersjaSchemy="2-1"/>', "PEF (3)", "Schemat_PEF(3)_v2-1.xsd"],
      [
        "a hostile one",
        `<KodFormularza kodSystemowy="&lt;/x>&amp;" wersjaSchemy=" "/>`,
        "</x>&",
        "Schemat_</x>&_v1-0E.xsd"
      ],
      [
        "a long one",
        `<KodFormularza kodSystemowy="${"A".repeat(300)}" wersjaSchemy="${"B".repeat(300)}"/>`,
        "A".repeat(50),
        `Schemat_${"A".repeat(50)}_v${"B".repeat(50)}.xsd`
      ]
    ])("is valid with %s form", (_, form, code, structure) => {
      const xml = upoOf(withXml({ nip: "5265877635", form }))
      assert.strictEqual(valueOf(xml, "KodFormularza"), code)
      assert.strictEqual(valueOf(xml, "NazwaStrukturyLogicznej"), structure)
      assert.isUndefined(Libxml2.validity(upoSchema, renamed(xml)))
    })

    it("violates the schema only in the tax number if the document has none", () => {
      const xml = renamed(upoOf(withXml({})))
      assert.isDefined(Libxml2.validity(upoSchema, xml))
      assert.isUndefined(Libxml2.validity(upoSchema, xml.replaceAll("0000000000", "5265877635")))
    })
  })
})
