/**
 * The verifier of login documents against signatures that hold and signatures that do not, and against the verifier of
 * `@govoice/ksef`, which shares no canonical form with it.
 */
import { Signature } from "@govoice/ksef/xades"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import { makePair } from "../../../ksef/test/support/certificates.ts"
import { signed, type Style } from "../../../ksef/test/xades/foreign.ts"
import { accepted, refused } from "../../../ksef/test/xades/signatures.ts"
import { Xml } from "../../src/documents/Xml.ts"
import { Refusal } from "../../src/http/Reply.ts"
import { verifyXades } from "../../src/xades/verifyXades.ts"

const xml = await Xml.load()

const pss = "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1"
const ecdsa = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"

const outcome = (document: string): string => {
  try {
    verifyXades(xml, Buffer.from(document))
    return "verified"
  } catch (error) {
    if (!(error instanceof Refusal) || error.refused.status !== 400) throw error
    return `${error.refused.code} ${error.refused.details.join(" ")}`
  }
}

const isLogin = (document: string): boolean => document.includes("<AuthTokenRequest")

describe("verifyXades", () => {
  it.each(accepted.filter(([, { document }]) => document === undefined))("accepts: %s", (_, style) => {
    assert.strictEqual(outcome(signed(style)), "verified")
  })

  it.each(refused().filter(([, document]) => isLogin(document)))("refuses: %s", (_, document, code) => {
    // An element that the schema does not have is refused for that, before any digest.
    assert.match(outcome(document), code === 9105 ? /^(?:9105|21401) ./ : new RegExp(`^${code} `))
  })

  it.each(refused().filter(([, document]) => !isLogin(document)))(
    "refuses without a login document: %s",
    (_, document) => {
      assert.match(outcome(document), /^(?:9101|9102|21001|9105) ?/)
    }
  )

  it.each<[what: string, style: Style, message: RegExp]>([
    ["no reference at all", { withoutReferences: true }, /SignedInfo has no Reference/],
    ["no type of the reference", { propertiesType: "" }, /lacks Type=/],
    [
      "the type of another version",
      { propertiesType: "http://uri.etsi.org/01903/v1.2.2#SignedProperties" },
      /lacks Type=/
    ],
    ["properties of another signature", { target: "#S2" }, /whose Target is the Id/],
    ["no SigningCertificate", { signingCertificate: () => "" }, /neither SigningCertificate nor SigningCertificateV2/],
    [
      "a digest of another certificate",
      { certificate: makePair({ serial: "07" }).der },
      /digest of SigningCertificate/
    ],
    ["a value of RSA under the name of RSA-PSS", { signatureMethod: pss }, /value of the signature is wrong/],
    ["a short key", { key: "rsa-1024" }, /^21115 Expected an RSA key of at least 2048 bits/]
  ])("names the fault: %s", (_, style, message) => {
    assert.match(outcome(signed(style)), message)
  })

  it("refuses a change of any signed part", () => {
    const document = signed({})
    const parts: Readonly<Record<string, readonly [string | RegExp, string]>> = {
      "the document": ["5265877635", "5260250274"],
      "the signing time": ["T11:59", "T11:58"],
      "the digest of the certificate": [/(CertDigest>.*?DigestValue>)./, "$1!"],
      "the digest of the document": [/(URI="">.*?DigestValue>)./s, "$1!"],
      "the digest of the properties": [/(URI="#P1">.*?DigestValue>)./s, "$1!"],
      "the method of the digest": ["xmlenc#sha256", "xmlenc#sha512"],
      "the canonicalization of the signed info": ["2001/10/xml-exc-c14n#", "2006/12/xml-c14n11"],
      "the value": [/(SignatureValue>.)./, "$1!"]
    }
    for (const [what, [from, to]] of Object.entries(parts)) {
      const changed = document.replace(from, to)
      assert.notStrictEqual(changed, document, what)
      assert.match(outcome(changed), /^9105 /, what)
    }
  })

  it("refuses an id that two elements have", () => {
    const twice = signed({}).replace("<Challenge>", '<Challenge Id="P1">')
    assert.match(outcome(twice), /^(?:21401|9105) /)
  })

  it("agrees with the verifier of @govoice/ksef, whatever single character is changed", () => {
    const document = signed({ key: "P-256", signatureMethod: ecdsa })
    const at = Array.from({ length: 400 }, (_, index) => Math.floor((index * document.length) / 400))
    for (const position of at) {
      const replacement = document[position] === "x" ? "y" : "x"
      const changed = document.slice(0, position) + replacement + document.slice(position + 1)
      const [mine, other] = [outcome(changed) === "verified", Result.isSuccess(Signature.verify(changed))]
      assert.strictEqual(
        mine,
        other,
        `at ${position}: ${changed.slice(position - 40, position + 20)}: ${outcome(changed)}`
      )
    }
  })
})
