/** Certificates that are requested over the API, with requests that OpenSSL wrote. */
import { LoginDocument, SigningCredential } from "@govoice/ksef/xades"
import * as Result from "effect/Result"
import { execFileSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import type { Simulator } from "../../src/startSimulator.ts"
import { Client, codes } from "../support/Client.ts"
import { manualTime, start } from "../support/simulator.ts"

interface Pair {
  readonly certificate: string
  readonly privateKey: string
}

const logIn = async (simulator: Simulator, pair: Pair = simulator.certificate, nip = simulator.nip) => {
  const now = simulator.clock.now()
  const credential = Result.getOrThrow(SigningCredential.read(pair, now))
  const client = new Client(simulator)
  await client.beginCertificateLogin((challenge) =>
    LoginDocument.write({ challenge, context: { type: "Nip", value: nip }, signingTime: now }, credential)
  )
  return client
}

const owner = async (simulator: Simulator) => {
  const client = await logIn(simulator)
  await client.redeem()
  return client
}

const ecKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]

/** Has OpenSSL write a request. */
const request = (
  subject: string,
  key: ReadonlyArray<string> = ecKey
): { readonly csr: string; readonly privateKey: string } => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-csr-"))
  try {
    const file = join(folder, "key.pem")
    const args = ["req", "-new", "-utf8", "-nodes", ...key, "-keyout", file, "-subj", subject, "-outform", "der"]
    const csr = execFileSync("openssl", args, { stdio: ["ignore", "pipe", "ignore"] })
    return { csr: csr.toString("base64"), privateKey: readFileSync(file, "utf8") }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const subjectOf = async (client: Client) => {
  const { text } = await client.call("GET", "/certificates/enrollments/data")
  const { commonName, countryName, organizationIdentifier, organizationName } = JSON.parse(text) as Record<
    string,
    string
  >
  return `/O=${organizationName}/organizationIdentifier=${organizationIdentifier}/CN=${commonName}/C=${countryName}`
}

const enroll = (client: Client, csr: string, certificateType = "Authentication", name = "Mój certyfikat") =>
  client.call("POST", "/certificates/enrollments", { body: { certificateName: name, certificateType, csr } })

const serialOf = async (client: Client, reference: string) => {
  const { text } = await client.call("GET", `/certificates/enrollments/${reference}`)
  return (JSON.parse(text) as { readonly certificateSerialNumber?: string }).certificateSerialNumber
}

const list = async (client: Client, body = {}, query = "") => {
  const { text } = await client.call("POST", `/certificates/query${query}`, { body })
  return JSON.parse(text) as {
    readonly certificates: ReadonlyArray<{
      readonly name: string
      readonly status: string
      readonly certificateSerialNumber: string
    }>
    readonly hasMore: boolean
  }
}

describe("certificates", () => {
  it.each([
    ["EC", ecKey],
    ["RSA", ["-newkey", "rsa:2048"]],
    ["RSA-PSS", ["-newkey", "rsa:2048", "-sigopt", "rsa_padding_mode:pss", "-sha384"]]
  ])(
    "are issued for a request with a key and signature of %s, log in, and do not once they are revoked",
    async (_, key) => {
      const time = manualTime()
      const simulator = await start({ now: time.now, processingMs: 500 })
      const client = await logIn(simulator)
      time.move(500)
      await client.redeem()
      const { csr, privateKey } = request(await subjectOf(client), key)
      const { json, status } = await enroll(client, csr)
      assert.strictEqual(status, 202)
      assert.match(json.referenceNumber, /^\d{8}-EH-/)
      assert.isUndefined(await serialOf(client, json.referenceNumber))
      assert.deepStrictEqual((await list(client)).certificates, [])
      time.move(500)
      const serial = (await serialOf(client, json.referenceNumber))!

      const retrieved = await client.call("POST", "/certificates/retrieve", {
        body: { certificateSerialNumbers: [serial] }
      })
      const [found] = (JSON.parse(retrieved.text) as { readonly certificates: ReadonlyArray<Record<string, string>> })
        .certificates
      const certificate = new X509Certificate(Buffer.from(found!["certificate"]!, "base64"))
      assert.strictEqual(certificate.serialNumber, serial)
      assert.strictEqual(certificate.subject, new X509Certificate(simulator.certificate.certificate).subject)
      assert.deepInclude(found, { certificateName: "Mój certyfikat", certificateType: "Authentication" })
      const pair = { certificate: certificate.toString(), privateKey }
      const login = async () => {
        const other = await logIn(simulator, pair)
        time.move(500)
        return other.loginStatus()
      }
      assert.strictEqual((await login()).code, 200)

      const path = `/certificates/${serial}/revoke`
      assert.strictEqual((await client.call("POST", path, { body: {} })).status, 204)
      assert.deepStrictEqual(codes(await client.call("POST", path, { body: {} })), [25009])
      assert.deepStrictEqual((await login()).details, ["Certyfikat odwołany"])
      assert.deepStrictEqual(
        (await list(client)).certificates.map(({ certificateSerialNumber, status }) => [
          certificateSerialNumber,
          status
        ]),
        [[serial, "Revoked"]]
      )
    }
  )

  it("of the type Offline do not log in", async () => {
    const simulator = await start()
    const client = await owner(simulator)
    const { csr, privateKey } = request(await subjectOf(client))
    const { json } = await enroll(client, csr, "Offline")
    const serial = (await serialOf(client, json.referenceNumber))!
    const { text } = await client.call("POST", "/certificates/retrieve", {
      body: { certificateSerialNumbers: [serial] }
    })
    const { certificates } = JSON.parse(text) as {
      readonly certificates: ReadonlyArray<{ readonly certificate: string }>
    }
    const certificate = new X509Certificate(Buffer.from(certificates[0]!.certificate, "base64")).toString()
    const read = SigningCredential.read({ certificate, privateKey }, simulator.clock.now())
    assert.strictEqual(Result.isFailure(read) && read.failure.reason, "offline-certificate")
  })

  it("are refused for another subject, a wrong signature, a weak key and no request", async () => {
    const simulator = await start()
    const client = await owner(simulator)
    const subject = await subjectOf(client)
    const { csr } = request(subject)
    const altered = Buffer.from(csr, "base64")
    altered[altered.length - 5]! ^= 1
    for (const [given, code] of [
      [request(subject.replace(/CN=[^/]*/, "CN=Ktoś inny")).csr, 25003],
      [request(`${subject}/GN=Jan`).csr, 25003],
      [altered.toString("base64"), 25004],
      [Buffer.from("no request").toString("base64"), 25004],
      [request(subject, ["-newkey", "rsa:3072"]).csr, 25010],
      [request(subject, ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384"]).csr, 25010],
      [request(subject, ["-newkey", "rsa:2048", "-md5"]).csr, 25011]
    ] as const) {
      assert.deepStrictEqual(codes(await enroll(client, given)), [code], String(code))
    }
    assert.deepStrictEqual((await list(client)).certificates, [])
  })

  it("are requested with a certificate only", async () => {
    const simulator = await start()
    const client = await Client.login(simulator)
    assert.deepStrictEqual(codes(await client.call("GET", "/certificates/enrollments/data")), [25001])
    const { csr } = request("/CN=x")
    assert.deepStrictEqual(codes(await enroll(client, csr)), [25002])
    const limits = await client.call("GET", "/certificates/limits")
    assert.include(limits.text, '"canRequest":false')
    const revoked = await client.call("POST", "/certificates/0123456789ABCDEF/revoke", { body: {} })
    assert.strictEqual(revoked.json.reasonCode, "auth-method-not-allowed")
  })

  it("are those of who is logged in, listed newest first, in pages, and counted", async () => {
    const time = manualTime()
    const simulator = await start({ now: time.now, limits: "off" })
    const client = await owner(simulator)
    const { csr } = request(await subjectOf(client))
    for (let index = 0; index < 12; index++) {
      await enroll(client, csr, index % 2 === 0 ? "Authentication" : "Offline", `Nazwa ${index}`)
      time.move(1000)
    }
    const first = await list(client)
    assert.deepStrictEqual(
      first.certificates.map(({ name }) => name),
      Array.from({ length: 10 }, (_, index) => `Nazwa ${11 - index}`)
    )
    assert.isTrue(first.hasMore)
    const next = await list(client, {}, "?pageOffset=1")
    assert.deepStrictEqual([next.certificates.length, next.hasMore], [2, false])
    assert.lengthOf((await list(client, { type: "Offline", name: "1" })).certificates, 2)
    const { text } = await client.call("GET", "/certificates/limits")
    assert.deepStrictEqual(JSON.parse(text), {
      canRequest: true,
      enrollment: { remaining: 288, limit: 300 },
      certificate: { remaining: 88, limit: 100 }
    })
    const nip = "5260250274"
    const other = await logIn(simulator, simulator.issueCertificate({ nip }), nip)
    await other.redeem()
    assert.deepStrictEqual((await list(other)).certificates, [])
    const body = { certificateSerialNumbers: [first.certificates[0]!.certificateSerialNumber] }
    assert.strictEqual((await other.call("POST", "/certificates/retrieve", { body })).text, '{"certificates":[]}')
  })
})
