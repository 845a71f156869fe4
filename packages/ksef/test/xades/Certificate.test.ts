import { X509Certificate } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Certificate } from "@govoice/ksef/xades"
import * as fc from "fast-check"
import { makePair, type Options, types } from "../support/certificates.ts"

const certificate = (options: Options) => new X509Certificate(makePair(options).certificate)

const nameOf = (subject: Required<Options>["subject"]) =>
  Certificate.formatName(Certificate.subject(certificate({ subject })))

describe("Certificate", () => {
  it("reads a certificate in DER and in PEM, the first of a text", () => {
    const [one, other] = [makePair(), makePair({ key: "P-256" })]
    for (const bytes of [one.der, one.certificate, `${one.certificate}${other.certificate}`]) {
      assert.isTrue(Certificate.read(bytes).raw.equals(one.der))
    }
    assert.isTrue(Certificate.read(other.certificate).raw.equals(other.der))
  })

  it("refuses a key on a curve of its own before OpenSSL decodes it", () => {
    const { certificate, der } = makePair({ key: "own curve" })
    for (const bytes of [der, certificate]) assert.throws(() => Certificate.read(bytes), /named curve/)
  })

  it("reads the bytes, and no text within them", () => {
    const hidden = makePair({ key: "own curve" }).certificate
    const { der } = makePair({ subject: [[types.commonName, `\n${hidden}`]] })
    assert.isTrue(Certificate.read(der).raw.equals(der))
  })

  it.each<[what: string, subject: Required<Options>["subject"], identity: Certificate.Identity | undefined]>([
    ["a seal", [[types.organizationIdentifier, "VATPL-5265877635"]], { type: "Nip", value: "5265877635" }],
    ["a person with a NIP", [[types.serialNumber, "TINPL-5265877635"]], { type: "Nip", value: "5265877635" }],
    [
      "a person with an older form of a NIP",
      [[types.serialNumber, "NIP: 5265877635"]],
      { type: "Nip", value: "5265877635" }
    ],
    [
      "a person with a mark that occurs twice",
      [[types.serialNumber, "NIP NIP 5265877635"]],
      { type: "Nip", value: "5265877635" }
    ],
    ["a person with a PESEL", [[types.serialNumber, "PNOPL-88102341294"]], { type: "Pesel", value: "88102341294" }],
    ["another country", [[types.organizationIdentifier, "VATDE-526587763"]], undefined],
    ["no identifier", [[types.commonName, "VATPL-5265877635"]], undefined]
  ])("identifies %s", (_, subject, identity) => {
    assert.deepStrictEqual(Certificate.identity(certificate({ subject })), identity)
  })

  it("writes names in the form of RFC 4514, the last part first", () => {
    assert.strictEqual(
      nameOf([
        [types.country, "PL"],
        [types.organization, "Przykład, Sp. z o.o."],
        [types.organizationIdentifier, "VATPL-5265877635"],
        [types.commonName, '#1 "A+B" <\\;>']
      ]),
      'CN=\\#1 \\"A\\+B\\" \\<\\\\\\;\\>,2.5.4.97=#0c1056415450' +
        "4c2d35323635383737363335,O=Przykład\\, Sp. z o.o.,C=PL"
    )
    assert.strictEqual(nameOf([[types.commonName, " x "]]), "CN=\\ x\\ ")
  })

  it("reads back every name that a certificate was made with", () => {
    const attribute = fc.tuple(fc.constantFrom(...Object.values(types)), fc.string({ minLength: 1, maxLength: 200 }))
    fc.assert(
      fc.property(fc.array(attribute, { minLength: 1, maxLength: 5 }), (subject) => {
        const read = Certificate.subject(certificate({ key: "P-256", subject }))
        assert.deepStrictEqual(
          read.map(([attribute]) => [attribute?.type, attribute?.text]),
          subject.map(([type, text]) => [type, text.toWellFormed()])
        )
      }),
      { numRuns: 50 }
    )
  })

  it("reads key usages", () => {
    const usage = (keyUsage: Required<Options>["keyUsage"]) => Certificate.keyUsage(certificate({ keyUsage }))
    assert.deepStrictEqual(usage(["digitalSignature"]), ["digitalSignature"])
    assert.deepStrictEqual(usage(["nonRepudiation"]), ["nonRepudiation"])
    assert.deepStrictEqual(usage(["digitalSignature", "nonRepudiation"]), ["digitalSignature", "nonRepudiation"])
    assert.deepStrictEqual(usage(["keyEncipherment"]), [])
    assert.isUndefined(usage("absent"))
  })

  it("writes serial numbers as decimal numbers, however long", () => {
    assert.strictEqual(Certificate.serialNumber(certificate({ serial: "01" })), "1")
    assert.strictEqual(
      Certificate.serialNumber(certificate({ serial: "0123456789abcdef0123456789abcdef" })),
      BigInt("0x0123456789abcdef0123456789abcdef").toString()
    )
  })
})
