import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto"
import { LoginDocument, SigningCredential } from "@govoice/ksef/xades"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import { makePair, type Options, type Pair, types } from "../../../ksef/test/support/certificates.ts"
import { signed, type Style } from "../../../ksef/test/xades/foreign.ts"
import type { IssuedCertificate } from "../../src/keys/Authority.ts"
import * as Certificate from "../../src/keys/Certificate.ts"
import type { Simulator } from "../../src/startSimulator.ts"
import { Client, codes, sha256 } from "../support/Client.ts"
import { enveloping } from "../support/enveloping.ts"
import { fa3 } from "../support/invoices.ts"
import { start } from "../support/simulator.ts"

const day = 86_400_000

const loginDocument = (
  challenge: string,
  nip: string,
  { policy = "", subject = "certificateSubject", version = "2.1" } = {}
) =>
  `<AuthTokenRequest xmlns="http://ksef.mf.gov.pl/auth/token/${version}"><Challenge>${challenge}</Challenge><ContextIdentifier><Nip>${nip}</Nip></ContextIdentifier><SubjectIdentifierType>${subject}</SubjectIdentifierType>${policy}SIGNATURE</AuthTokenRequest>`

// The first context of the simulators in these tests is that of the certificates that `makePair` makes.
const sign =
  (style: Style, changes: Parameters<typeof loginDocument>[2] & { readonly nip?: string } = {}) =>
  (challenge: string) =>
    signed({ ...style, document: loginDocument(challenge, changes.nip ?? "5265877635", changes) })

const pairOf = ({ certificate, privateKey }: IssuedCertificate): Pair => {
  const { publicKey, raw: der } = new X509Certificate(certificate)
  return { certificate, privateKey, publicKey, key: createPrivateKey(privateKey), der }
}

const p256 = { signatureMethod: "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256" }

const statusOf = async (simulator: Simulator, document: (challenge: string) => string, query = "") => {
  const client = new Client(simulator)
  const answer = await client.beginCertificateLogin(document, query)
  assert.strictEqual(answer.status, 202, answer.text)
  const { code, details } = await client.loginStatus()
  return details === undefined ? `${code}` : `${code} ${details.join(" ")}`
}

describe("login with a certificate", () => {
  it.each<["ec" | "rsa"]>([["ec"], ["rsa"]])(
    "logs in and sends with a certificate that the simulator issued (%s)",
    async (key) => {
      const simulator = await start({ environment: "prod" })
      const issued = simulator.issueCertificate({ nip: simulator.nip, key })
      const credential = Result.getOrThrow(SigningCredential.read(issued, Date.now()))
      const client = new Client(simulator)
      await client.beginCertificateLogin((challenge) =>
        LoginDocument.write(
          { challenge, context: { type: "Nip", value: simulator.nip }, signingTime: Date.now() - 60_000 },
          credential
        )
      )
      assert.strictEqual((await client.loginStatus()).code, 200)
      const status = (await client.call("GET", `/auth/${client.login}`, { token: client.authentication })).json
      assert.strictEqual(status.authenticationMethodInfo.category, "XadesSignature")
      await client.redeem()
      const session = await client.open()
      const invoice = await client.submit(session, fa3())
      const upo = await client.call("GET", `/sessions/${session.reference}/invoices/${invoice.referenceNumber}/upo`)
      assert.match(upo.text, /<SkrotDokumentuUwierzytelniajacego>[A-Za-z0-9+/=]{44}</)
    }
  )

  it.each(["2.0", "2.1"])("accepts a document of version %s", async (version) => {
    assert.strictEqual(await statusOf(await start(), sign({}, { version })), "200")
  })

  it("accepts an enveloping signature over the object of the document", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    const answer = await client.beginCertificateLogin((challenge) =>
      enveloping(loginDocument(challenge, simulator.nip).replace("SIGNATURE", ""))
    )
    assert.strictEqual(answer.status, 202, answer.text)
    assert.strictEqual((await client.loginStatus()).code, 200)
  })

  it("accepts a challenge once, and none of another kind of login", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    let document = ""
    await client.beginCertificateLogin((challenge) => (document = sign({})(challenge)))
    assert.deepStrictEqual(codes(await client.beginCertificateLogin(() => document)), [21111])
    const unknown = sign({})("20250625-CR-20F5EE4000-DA48AE4124-46")
    assert.deepStrictEqual(codes(await client.beginCertificateLogin(() => unknown)), [21111])
  })

  it("leaves a challenge valid after a login with an invalid signature", async () => {
    const simulator = await start()
    const client = new Client(simulator)
    let challenge = ""
    const refused = await client.beginCertificateLogin((given) => {
      challenge = given
      return sign({})(given).replace("5265877635", "5260250274")
    })
    assert.deepStrictEqual(codes(refused), [9105])
    const answer = await client.beginCertificateLogin(() => sign({})(challenge))
    assert.strictEqual(answer.status, 202)
  })
})

describe("a certificate", () => {
  const now = Date.now()

  it.each<[what: string, options: Options, status: string]>([
    ["that has expired", { from: now - 2 * day, until: now - day }, "460 Nieważny certyfikat"],
    ["that is not valid yet", { from: now + day, until: now + 2 * day }, "460 Nieważny certyfikat"],
    ["for confirmations alone", { keyUsage: ["nonRepudiation"] }, "460 Niepoprawny certyfikat"],
    ["for encryption alone", { keyUsage: ["keyEncipherment"] }, "460 Niepoprawny certyfikat"],
    [
      "without a subject that names a taxpayer",
      { subject: [[types.commonName, "Nobody"]] },
      "460 Niepoprawny certyfikat"
    ],
    [
      "of another taxpayer",
      { subject: [[types.organizationIdentifier, "VATPL-5260250274"]] },
      "415 Brak przypisanych uprawnień"
    ],
    [
      "of a person without rights",
      { subject: [[types.serialNumber, "PNOPL-44051401458"]] },
      "415 Brak przypisanych uprawnień"
    ],
    ["without key usages, which allows all", { keyUsage: "absent" }, "200"],
    ["of a person by NIP", { subject: [[types.serialNumber, "TINPL-5265877635"]] }, "200"]
  ])("%s", async (_, options, status) => {
    assert.strictEqual(await statusOf(await start(), sign({ pair: makePair(options) })), status)
  })

  it.each<["demo" | "prod"]>([["demo"], ["prod"]])(
    "that the authority did not sign is accepted in test only, and not in %s",
    async (environment) => {
      assert.strictEqual(await statusOf(await start({ environment }), sign({})), "460 Niezaufany łańcuch certyfikatów")
      assert.strictEqual(await statusOf(await start(), sign({})), "200")
      const chain = "?verifyCertificateChain=true"
      assert.strictEqual(await statusOf(await start(), sign({}), chain), "460 Niezaufany łańcuch certyfikatów")
    }
  )

  it("that names the authority as its issuer, and was signed by another key, is not trusted", async () => {
    const simulator = await start({ environment: "prod" })
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
    const der = Certificate.build(
      {
        serial: Buffer.from("07", "hex"),
        subject: { organizationIdentifier: `VATPL-${simulator.nip}`, commonName: "Firma", country: "PL" },
        issuer: { commonName: "KSeF simulator CA", organization: "KSeF simulator", country: "PL" },
        validFrom: now - day,
        validTo: now + day,
        publicKey,
        usages: ["digitalSignature"]
      },
      privateKey
    )
    const pair = { certificate: "", privateKey: "", publicKey, key: privateKey, der }
    assert.strictEqual(await statusOf(simulator, sign({ ...p256, pair })), "460 Niezaufany łańcuch certyfikatów")
  })

  it("of the kind offline, which the simulator issues too, cannot log in", async () => {
    const simulator = await start()
    const pair = pairOf(simulator.issueCertificate({ nip: simulator.nip, kind: "offline" }))
    assert.strictEqual(await statusOf(simulator, sign({ ...p256, pair })), "460 Niepoprawny certyfikat")
  })

  it("by its fingerprint logs in once a permission was granted to it", async () => {
    const simulator = await start()
    const pair = pairOf(simulator.issueCertificate({ nip: "5260250274" }))
    const login = sign({ ...p256, pair }, { subject: "certificateFingerprint" })
    assert.strictEqual(await statusOf(simulator, login), "415 Brak przypisanych uprawnień")
    const fingerprint = Buffer.from(sha256(pair.der), "base64").toString("hex").toUpperCase()
    const grant = {
      contextIdentifier: { type: "Nip", value: simulator.nip },
      authorizedIdentifier: { type: "Fingerprint", value: fingerprint },
      permissions: [{ permissionType: "InvoiceRead", description: "reads" }]
    }
    const client = new Client(simulator)
    assert.strictEqual((await client.call("POST", "/testdata/permissions", { body: grant })).status, 200)
    assert.strictEqual(await statusOf(simulator, login), "200")
    await client.beginCertificateLogin(login)
    await client.loginStatus()
    await client.redeem()
    const { body } = await client.encryption()
    const form = { systemCode: "FA (3)", schemaVersion: "1-0E", value: "FA" }
    const opened = await client.call("POST", "/sessions/online", { body: { formCode: form, encryption: body } })
    assert.strictEqual(opened.json.reasonCode, "missing-permissions")
    const { permissions: _, ...revoke } = grant
    assert.strictEqual((await client.call("POST", "/testdata/permissions/revoke", { body: revoke })).status, 200)
    assert.strictEqual(await statusOf(simulator, login), "415 Brak przypisanych uprawnień")
  })

  it("binds its access tokens to the addresses that its document names", async () => {
    const simulator = await start()
    const policy =
      "<AuthorizationPolicy><AllowedIps><Ip4Address>10.0.0.1</Ip4Address></AllowedIps></AuthorizationPolicy>"
    const client = new Client(simulator)
    await client.beginCertificateLogin(sign({}, { policy }))
    await client.loginStatus()
    await client.redeem()
    const answer = await client.call("GET", "/rate-limits")
    assert.deepStrictEqual([answer.status, answer.json.reasonCode], [403, "ip-not-allowed"])
  })
})

describe("a body that is no login document", () => {
  it.each<[what: string, body: string, expected: ReadonlyArray<number>]>([
    ["empty", "", [21001]],
    ["text", "login", [21001]],
    ["another document", "<a/>", [9102]],
    [
      "without a signature",
      loginDocument("20250625-CR-20F5EE4000-DA48AE4124-46", "5265877635").replace("SIGNATURE", ""),
      [9102]
    ],
    ["a document type", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", [9101]],
    ["what the schema does not allow", "later", [21401]]
  ])("%s", async (_, body, expected) => {
    const client = new Client(await start())
    const document =
      body === "later" ? (challenge: string) => signed({ document: loginDocument(challenge, "12") }) : () => body
    assert.deepStrictEqual(codes(await client.beginCertificateLogin(document)), expected)
  })
})
