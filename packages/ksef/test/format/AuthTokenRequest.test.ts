import { assert, describe, it } from "@effect/vitest"
import { AuthTokenRequest } from "@govoice/ksef/format"
import { LoginDocument, SigningCredential } from "@govoice/ksef/xades"
import * as Result from "effect/Result"
import { makePair } from "../support/certificates.ts"
import { signed } from "../xades/foreign.ts"

const challenge = "20250625-CR-20F5EE4000-DA48AE4124-46"

describe("AuthTokenRequest", () => {
  it("reads the login document that Govoice signs", () => {
    const { certificate, privateKey } = makePair()
    const credential = Result.getOrThrow(SigningCredential.read({ certificate, privateKey }, Date.now()))
    const xml = LoginDocument.write(
      { challenge, context: { type: "Nip", value: "5265877635" }, signingTime: 0 },
      credential
    )
    assert.deepStrictEqual(AuthTokenRequest.read(xml), {
      version: "2.1",
      challenge,
      context: { type: "Nip", value: "5265877635" },
      subjectIdentifierType: "certificateSubject"
    })
  })

  it("reads a login document of version 2.0, with white space", () => {
    assert.deepStrictEqual(AuthTokenRequest.read(signed()), {
      version: "2.0",
      challenge,
      context: { type: "Nip", value: "5265877635" },
      subjectIdentifierType: "certificateSubject"
    })
  })

  it("reads another kind of context, and prefixed names", () => {
    const xml = `<t:AuthTokenRequest xmlns:t="http://ksef.mf.gov.pl/auth/token/2.1"><t:Challenge> ${challenge}\n</t:Challenge><t:ContextIdentifier><!-- x --><t:InternalId>5265877635-12345</t:InternalId></t:ContextIdentifier><t:SubjectIdentifierType>certificateFingerprint</t:SubjectIdentifierType></t:AuthTokenRequest>`
    assert.deepInclude(AuthTokenRequest.read(xml), {
      challenge,
      context: { type: "InternalId", value: "5265877635-12345" },
      subjectIdentifierType: "certificateFingerprint"
    })
  })

  it.each<[what: string, edit: (xml: string) => string]>([
    ["another version", (xml) => xml.replace("token/2.0", "token/1.0")],
    ["another root", (xml) => xml.replaceAll("AuthTokenRequest", "Request")],
    ["no challenge", (xml) => xml.replace(/<Challenge>.*<\/Challenge>/, "")],
    ["no context", (xml) => xml.replace(/<Nip>.*<\/Nip>/, "")],
    ["no kind of subject", (xml) => xml.replace(/<SubjectIdentifierType>.*<\/SubjectIdentifierType>/, "")],
    ["a document that is not well-formed", (xml) => xml.slice(0, -1)]
  ])("returns undefined for %s", (_, edit) => {
    assert.isUndefined(AuthTokenRequest.read(edit(signed())))
  })
})
