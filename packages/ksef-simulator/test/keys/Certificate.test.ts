import { execFileSync, spawnSync } from "node:child_process"
import { generateKeyPairSync, X509Certificate } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Certificate as Reader } from "@govoice/ksef/xades"
import { assert, describe, it } from "vitest"
import * as Certificate from "../../src/keys/Certificate.ts"
import * as Der from "../../src/keys/Der.ts"

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" })
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 })

const content = (keys: { readonly publicKey: Certificate.Content["publicKey"] }): Certificate.Content => ({
  serial: Buffer.from("ff00112233445566", "hex"),
  subject: {
    commonName: "Firma Kowalski & Wspólnicy",
    organizationIdentifier: "VATPL-5265877635",
    country: "PL"
  },
  issuer: { commonName: "KSeF simulator CA", country: "PL" },
  validFrom: Date.UTC(2026, 10, 22, 6, 30, 15, 999),
  validTo: Date.UTC(2051, 0, 1),
  publicKey: keys.publicKey,
  usages: ["digitalSignature"]
})

describe("Certificate", () => {
  it.each([
    ["EC signed by EC", ec, ec],
    ["RSA signed by EC", rsa, ec],
    ["EC signed by RSA", ec, rsa]
  ] as const)("build: Node reads every field of a certificate, %s", (_, subject, issuer) => {
    const certificate = new X509Certificate(Certificate.build(content(subject), issuer.privateKey))
    assert.isTrue(certificate.verify(issuer.publicKey))
    assert.isTrue(certificate.checkPrivateKey(subject.privateKey))
    assert.strictEqual(certificate.serialNumber, "FF00112233445566")
    assert.strictEqual(Date.parse(certificate.validFrom), Date.UTC(2026, 10, 22, 6, 30, 15))
    assert.strictEqual(Date.parse(certificate.validTo), Date.UTC(2051, 0, 1))
    assert.include(certificate.subject, "organizationIdentifier=VATPL-5265877635")
    assert.include(certificate.issuer, "CN=KSeF simulator CA")
    assert.isFalse(certificate.ca)
  })

  it.skipIf(!hasOpenssl)("build: openssl accepts a certificate and its issuer", () => {
    const folder = mkdtempSync(join(tmpdir(), "certificate-"))
    const root = { ...content(ec), subject: { commonName: "KSeF simulator CA", country: "PL" }, authority: true }
    const authority = Certificate.build({ ...root, usages: ["keyCertSign"] }, ec.privateKey)
    writeFileSync(join(folder, "ca.pem"), Certificate.toPem(authority))
    writeFileSync(join(folder, "leaf.pem"), Certificate.toPem(Certificate.build(content(rsa), ec.privateKey)))
    const openssl = (...args: ReadonlyArray<string>) => execFileSync("openssl", args, { cwd: folder, encoding: "utf8" })
    assert.match(openssl("x509", "-in", "leaf.pem", "-noout", "-text"), /Key Usage: critical\s+Digital Signature\n/)
    const at = String(Date.UTC(2027, 0, 1) / 1000)
    assert.strictEqual(openssl("verify", "-attime", at, "-CAfile", "ca.pem", "leaf.pem"), "leaf.pem: OK\n")
    rmSync(folder, { recursive: true })
  })

  it("build: the subject and the key usage are those that a reader of its own finds", () => {
    const der = Certificate.build({ ...content(ec), usages: ["nonRepudiation", "keyEncipherment"] }, ec.privateKey)
    const certificate = new X509Certificate(der)
    assert.deepStrictEqual(Reader.identity(certificate), { type: "Nip", value: "5265877635" })
    assert.deepStrictEqual(Reader.keyUsage(certificate), ["nonRepudiation"])
  })

  it("parse: returns undefined for anything that is no certificate", () => {
    for (const bytes of ["", "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----", Buffer.alloc(9)])
      assert.isUndefined(Certificate.parse(bytes))
  })
})

describe("Der", () => {
  it("octets: writes the length in the shortest form", () => {
    const heads = [0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x1_0000].map((length) =>
      Der.octets(Buffer.alloc(length, 7)).subarray(0, 6).toString("hex").replace(/07.*/, "")
    )
    assert.deepStrictEqual(heads, ["0400", "0401", "047f", "048180", "0481ff", "04820100", "0482ffff", "0483010000"])
  })

  it("integer: writes the shortest form, and never a negative number", () => {
    assert.strictEqual(Der.integer(Buffer.from("0000ff", "hex")).toString("hex"), "020200ff")
    assert.strictEqual(Der.integer(Buffer.from("007f", "hex")).toString("hex"), "02017f")
    assert.strictEqual(Der.integer(Buffer.alloc(4)).toString("hex"), "020100")
  })
})
