import { createHash, verify } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { LoginDocument, Signature, SigningCredential } from "@govoice/ksef/xades"
import * as Result from "effect/Result"
import { authSchema } from "../fixtures.ts"
import { makePair } from "../support/certificates.ts"
import * as Libxml2 from "../xml/libxml2.ts"

const login: LoginDocument.Login = {
  challenge: "20250625-CR-20F5EE4000-DA48AE4124-46",
  context: { type: "Nip", value: "5265877635" },
  signingTime: Date.parse("2026-11-20T11:59:00.000Z")
}

const credentialOf = (key: "rsa" | "P-256") => {
  const { certificate, privateKey } = makePair({ key })
  return Result.getOrThrow(SigningCredential.read({ certificate, privateKey }, Date.now()))
}

const namespaces = { ds: "http://www.w3.org/2000/09/xmldsig#", xades: "http://uri.etsi.org/01903/v1.3.2#" }

const exclusive = { form: "exclusive", withComments: false, namespaces } as const

const sha256 = (text: string) => createHash("sha256").update(text).digest("base64")

const digestsIn = (xml: string) => Array.from(xml.matchAll(/<ds:DigestValue>([^<]+)</g), ([, digest]) => digest)

const withoutSignature = (xml: string) => xml.replace(/<ds:Signature .*<\/ds:Signature>/s, "")

describe("LoginDocument", () => {
  it.each([
    ["Nip", "5265877635", "certificateSubject"],
    ["InternalId", "5265877635-12346", "certificateSubject"],
    ["NipVatUe", "5265877635-DE123456789", "certificateFingerprint"]
  ] as const)("names the context %s %s, and its subject by %s", (type, value, subject) => {
    const xml = LoginDocument.write({ ...login, context: { type, value } }, credentialOf("P-256"))
    assert.include(xml, `<ContextIdentifier><${type}>${value}</${type}></ContextIdentifier>`)
    assert.include(xml, `<SubjectIdentifierType>${subject}</SubjectIdentifierType>`)
    assert.isUndefined(Libxml2.validity(authSchema, withoutSignature(xml)))
  })
})

describe.each(["rsa", "P-256"] as const)("LoginDocument with a key of the kind %s", (key) => {
  const credential = credentialOf(key)
  const xml = LoginDocument.write(login, credential)

  it("equals its canonical form by libxml2", () => {
    assert.strictEqual(Libxml2.canonical(xml, exclusive), xml)
  })

  it("has the digests of the canonical forms by libxml2", () => {
    const properties = Libxml2.canonical(xml, { ...exclusive, element: "//xades:SignedProperties" })
    const [root, signedProperties, certificate] = digestsIn(xml)
    assert.strictEqual(root, sha256(Libxml2.canonical(withoutSignature(xml), exclusive)))
    assert.strictEqual(signedProperties, sha256(properties))
    assert.strictEqual(certificate, createHash("sha256").update(credential.certificate.raw).digest("base64"))
  })

  it("has the signature of the canonical SignedInfo by libxml2", () => {
    const signedInfo = Libxml2.canonical(xml, { ...exclusive, element: "//ds:SignedInfo" })
    const [, value = ""] = /<ds:SignatureValue>([^<]+)</.exec(xml) ?? []
    const signature = Buffer.from(value, "base64")
    const publicKey = credential.certificate.publicKey
    if (key === "P-256") assert.strictEqual(signature.length, 64)
    assert.isTrue(verify("sha256", Buffer.from(signedInfo), { key: publicKey, dsaEncoding: "ieee-p1363" }, signature))
  })

  it("is valid against the schema of the Ministry without its signature", () => {
    assert.isUndefined(Libxml2.validity(authSchema, withoutSignature(xml)))
    assert.match(Libxml2.validity(authSchema, withoutSignature(xml).replace("-CR-", "-XX-")) ?? "", /Challenge/)
  })

  it("has a signature that Signature.verify accepts", () => {
    const verified = Result.getOrThrow(Signature.verify(xml))
    assert.strictEqual(verified.certificate.fingerprint256, credential.certificate.fingerprint256)
    assert.strictEqual(verified.signingTime, "2026-11-20T11:59:00.000Z")
    assert.match(verified.method, key === "rsa" ? /#rsa-sha256$/ : /#ecdsa-sha256$/)
  })

  it("escapes the challenge", () => {
    const hostile = LoginDocument.write({ ...login, challenge: "</Challenge><Nip>&\"'" }, credential)
    assert.include(hostile, "<Challenge>&lt;/Challenge&gt;&lt;Nip&gt;&amp;\"'</Challenge>")
    assert.isTrue(Result.isSuccess(Signature.verify(hostile)))
  })
})
