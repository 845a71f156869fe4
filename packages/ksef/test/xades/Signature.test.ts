import { assert, describe, it } from "@effect/vitest"
import { CanonicalXml, LoginDocument, Signature, SigningCredential, XmlTree } from "@govoice/ksef/xades"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { makePair } from "../support/certificates.ts"
import { signed } from "./foreign.ts"
import { accepted, refused } from "./signatures.ts"

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

describe("Signature", () => {
  describe("verify accepts", () => {
    it.each(accepted)("%s", (_, style) => {
      assert.strictEqual(message(signed(style)), "verified")
    })

    it("a signature, and returns its certificate, time and method", () => {
      const verified = Result.getOrThrow(
        Signature.verify(signed({ key: "P-256", signatureMethod: `${more}ecdsa-sha256` }))
      )
      assert.deepStrictEqual(verified.certificate.publicKey.asymmetricKeyType, "ec")
      assert.strictEqual(verified.signingTime, "2026-11-20T11:59:00.1234567Z")
      assert.strictEqual(verified.method, `${more}ecdsa-sha256`)
    })
  })

  describe("verify refuses", () => {
    it.each(refused())("%s", (_, xml, wanted) => {
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

    it("a document in which two elements have the same id", () => {
      const twice = signed({ document: `<a><b ID="P1"/>SIGNATURE</a>` })
      assert.match(message(twice), /more than one element/)
    })

    it("every edited login document whose signed content differs", () => {
      const { certificate, privateKey } = makePair()
      const credential = Result.getOrThrow(SigningCredential.read({ certificate, privateKey }, Date.now()))
      const login: LoginDocument.Login = {
        challenge: "20250625-CR-20F5EE4000-DA48AE4124-46",
        context: { type: "Nip", value: "5265877635" },
        signingTime: 0
      }
      const original = LoginDocument.write(login, credential)
      // Text inside of the signature beside the signed parts is not signed.
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
    })
  })
})
