import { constants } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { CanonicalXml, LoginDocument, Signature, SigningCredential, XmlTree } from "@govoice/ksef/xades"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { makePair } from "../support/certificates.ts"
import { signed, type Style } from "./foreign.ts"

const code = (xml: string) => {
  const result = Signature.verify(xml)
  return Result.isSuccess(result) ? "verified" : result.failure.code
}

const message = (xml: string) => {
  const result = Signature.verify(xml)
  return Result.isSuccess(result) ? "verified" : result.failure.message
}

const more = "http://www.w3.org/2001/04/xmldsig-more#"
const ds = "http://www.w3.org/2000/09/xmldsig#"

const digestMethods = {
  sha256: "http://www.w3.org/2001/04/xmlenc#sha256",
  sha384: `${more}sha384`,
  sha512: "http://www.w3.org/2001/04/xmlenc#sha512"
} as const

describe("Signature", () => {
  describe("verifies", () => {
    it.each<[what: string, style: Style]>([
      ["exclusive canonicalization throughout", {}],
      ["no prefix, as the official client in C# writes it", { prefix: "", signedInfoForm: "inclusive-1.0" }],
      ["Canonical XML 1.0 of the signed info", { signedInfoForm: "inclusive-1.0" }],
      ["Canonical XML 1.1 of the signed info", { signedInfoForm: "inclusive-1.1" }],
      ["Canonical XML 1.0 of the signed properties", { propertiesForm: "inclusive-1.0" }],
      ["a reference without transforms", { propertiesForm: "none" }],
      [
        "the XPath transform that leaves out signatures",
        {
          enveloped: `<@Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><@XPath>not(ancestor-or-self::ds:Signature)</@XPath></@Transform>`
        }
      ],
      ["ECDSA on P-256", { key: "P-256", signatureMethod: `${more}ecdsa-sha256` }],
      [
        "ECDSA on P-384, as DSS signs with such keys",
        { key: "P-384", signatureMethod: `${more}ecdsa-sha384`, hash: "sha384", digestMethod: digestMethods.sha384 }
      ],
      [
        "RSA with SHA-512",
        { signatureMethod: `${more}rsa-sha512`, hash: "sha512", digestMethod: digestMethods.sha512 }
      ],
      [
        "RSA-PSS",
        {
          signatureMethod: "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
          padding: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
        }
      ],
      [
        "SigningCertificateV2",
        {
          signingCertificate: (digest) =>
            `<xades:SigningCertificateV2><xades:Cert><xades:CertDigest>${digest}</xades:CertDigest></xades:Cert></xades:SigningCertificateV2>`
        }
      ],
      ["instructions and comments around the root", { document: "<?p x?><!-- c --><a>\r\n<b/>SIGNATURE</a><?q?>" }]
    ])("%s", (_, style) => {
      assert.strictEqual(message(signed(style)), "verified")
    })

    it("and tells the certificate, the time and the method", () => {
      const verified = Result.getOrThrow(
        Signature.verify(signed({ key: "P-256", signatureMethod: `${more}ecdsa-sha256` }))
      )
      assert.deepStrictEqual(verified.certificate.publicKey.asymmetricKeyType, "ec")
      assert.strictEqual(verified.signingTime, "2026-11-20T11:59:00.1234567Z")
      assert.strictEqual(verified.method, `${more}ecdsa-sha256`)
    })
  })

  describe("refuses", () => {
    const xml = signed()

    it.each<[what: string, xml: string, code: 9101 | 9102 | 9103 | 9105 | 21115]>([
      ["text", "no document", 9101],
      ["a document that is not well-formed", "<a>", 9101],
      ["a document type", "<!DOCTYPE a><a/>", 9101],
      ["a document without a signature", "<a/>", 9102],
      ["two signatures", xml.replace(/(<ds:Signature [^]*<\/ds:Signature>)/, "$1$1"), 9103],
      ["a signature inside of a signature", xml.replace("<ds:KeyInfo>", `<ds:KeyInfo><ds:Signature/>`), 9103],
      ["a signature below another element", signed({ document: "<a><b>SIGNATURE</b></a>" }), 9105],
      ["a signature as the root", `<ds:Signature xmlns:ds="${ds}"/>`, 9105],
      ["a changed document", xml.replace("5265877635", "5265877634"), 9105],
      ["an added element", xml.replace("</AuthTokenRequest>", "<x/></AuthTokenRequest>"), 9105],
      ["added text", xml.replace("</Challenge>", " </Challenge>"), 9105],
      ["an instruction that was added before the root", xml.replace("?>\n", "?>\n<?p?>"), 9105],
      ["a changed signing time", xml.replace("T11:59", "T11:58"), 9105],
      ["a changed digest", xml.replace(/(<ds:DigestValue>)./, "$1!"), 9105],
      ["an empty value", xml.replace(/(<ds:SignatureValue>)[^<]*/, "$1"), 9105],
      [
        "a value of another document",
        xml.replace(
          /<ds:SignatureValue>[^<]*/,
          /<ds:SignatureValue>[^<]*/.exec(signed({ document: "<b>SIGNATURE</b>" }))![0]
        ),
        9105
      ],
      ["another certificate", signed({ certificate: makePair({ serial: "07" }).der }), 9105],
      ["ECDSA values in DER", signed({ key: "P-256", signatureMethod: `${more}ecdsa-sha256`, encoding: "der" }), 9105],
      ["a method of another kind of key", signed({ signatureMethod: `${more}ecdsa-sha256` }), 9105],
      ["an HMAC", signed({ signatureMethod: `${ds}hmac-sha1` }), 9105],
      ["SHA-1", signed({ signatureMethod: `${ds}rsa-sha1` }), 9105],
      ["a digest method that is not supported", signed({ digestMethod: `${ds}sha1` }), 9105],
      ["a short key", signed({ key: "rsa-1024" }), 21115],
      ["no reference to the signed properties", signed({ withoutPropertiesReference: true }), 9105],
      ["a reference to the signed properties without its type", signed({ propertiesType: "" }), 9105],
      ["signed properties of another signature", signed({ target: "#S2" }), 9105],
      ["no signing certificate in the signed properties", signed({ signingCertificate: () => "" }), 9105],
      ["no enveloped transform", signed({ enveloped: "" }), 9105],
      [
        "an XPath that leaves out more",
        signed({
          enveloped: `<@Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><@XPath>not(ancestor-or-self::Nip)</@XPath></@Transform>`
        }),
        9105
      ],
      ["XSLT", signed({ enveloped: `<@Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"/>` }), 9105],
      [
        "a reference to something else",
        signed({
          extraReference: `<@Reference URI="http://example.com/"><@DigestMethod Algorithm="${digestMethods.sha256}"/><@DigestValue>AA==</@DigestValue></@Reference>`
        }),
        9105
      ],
      [
        "a reference without an address",
        signed({
          extraReference: `<@Reference><@DigestMethod Algorithm="${digestMethods.sha256}"/><@DigestValue>AA==</@DigestValue></@Reference>`
        }),
        9105
      ]
    ])("%s", (_, xml, wanted) => {
      assert.strictEqual(code(xml), wanted, message(xml))
    })

    it("a signature that covers only a part of the document", () => {
      const wrapped = signed({
        document: `<a><b Id="B1"/>SIGNATURE</a>`,
        rootUri: "#B1",
        enveloped: ""
      })
      assert.match(message(wrapped), /does not cover the whole document/)
    })

    it("an id that two elements have", () => {
      const twice = signed({ document: `<a><b ID="P1"/>SIGNATURE</a>` })
      assert.match(message(twice), /more than one element/)
    })

    it("whatever differs from what was signed: nothing else verifies but what says the same", () => {
      const { certificate, privateKey } = makePair()
      const credential = Result.getOrThrow(SigningCredential.read({ certificate, privateKey }, Date.now()))
      const login = { challenge: "20250625-CR-20F5EE4000-DA48AE4124-46", contextNip: "5265877635", signingTime: 0 }
      const original = LoginDocument.write(login, credential)
      // What stands inside of the signature beside the signed parts is nobody's statement.
      const said = (xml: string) => {
        const tree = XmlTree.parse(xml)
        const [signature] = XmlTree.childElements(tree.root, ds, "Signature")
        return CanonicalXml.write(tree, CanonicalXml.exclusive, signature)
      }
      const edit = fc.record({
        at: fc.nat({ max: original.length - 1 }),
        length: fc.nat({ max: 3 }),
        text: fc.oneof(
          fc.stringMatching(/^[A-Za-z0-9+/=<>"& ]$/),
          fc.constantFrom("", "<!---->", "<?p?>", "&#32;", "<x/>")
        )
      })
      fc.assert(
        fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
          const xml = edits.reduce(
            (text, { at, length, text: put }) => text.slice(0, at) + put + text.slice(at + length),
            original
          )
          const result = Signature.verify(xml)
          if (Result.isFailure(result)) return
          assert.strictEqual(said(xml), said(original))
          assert.strictEqual(result.success.certificate.fingerprint256, credential.certificate.fingerprint256)
        }),
        { numRuns: 3000 }
      )
    }, 120_000)
  })
})
