import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { CertificateLink } from "@govoice/ksef/crypto"

const unsigned =
  "https://qr-test.ksef.mf.gov.pl/certificate/Nip/1111111111/1111111111/01F20A5D352AE590/UtQp9Gpc51y-u3xApZjIjgkpZ01js-J8KflSPW8WzIE"

const source: CertificateLink.Source = {
  origin: "https://qr-test.ksef.mf.gov.pl",
  context: { type: "Nip", value: "1111111111" },
  sellerNip: "1111111111",
  serialNumber: "01F20A5D352AE590",
  documentHash: Buffer.from("UtQp9Gpc51y-u3xApZjIjgkpZ01js-J8KflSPW8WzIE", "base64url")
}

// Signatures of the link without its scheme, made by OpenSSL 3.0.19:
//   openssl dgst -sha256 -sign rsa.pem -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32 -sigopt rsa_mgf1_md:sha256
//   openssl dgst -sha256 -sign ec.pem, whose DER was written as R and S of 32 bytes each
const vectors = [
  {
    name: "RSA of 2048 bits",
    publicKey: `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAvboW7lVyIfc/FSTfwmrq
Niei2oV08M5qWs9C+rturF4Nq8iCmWpTo5pE1Tn3St01T48S3u7xko1NXPkin6kG
fFgMkhHUku0vEyj5EAAaFjCy98mjGfua/jRjPEH7nUHyJq+dnFE/ZeIfZzsTwBq4
dZRQ3gLx8N3czpUP+juiiLI6DXAFp6wnKRTBToLzJzZIc/DdRAZmTDyKj9k8Evnk
2kwVxxem9KUaLymzAOSCu5/rJkhR5vqcRpt/7rqiUJlHTqAGP4xhchbOWDO2zKac
vavj/BL0BpT71GjFgOgu6K3M1tPqiPsPEwEVl/FEW+uc2RUfZbhzG1sQrE2ZPAYO
NwIDAQAB
-----END PUBLIC KEY-----
`,
    signature:
      "jyBevtALvrTz3_6xM6rYBn7QreDokOiCymShdVvsXdelzT1DUSSNwP9aEhYuFQyClxglV99rcBVtark5B2L4qhxmgvGM1hyDMQGhzjozGRBNrjs7xkzeFFLwvM4DrIp0T8qpR-0U-rEhaEJUM7LCk_sKVxfUbTsuTGltutvnqiPr2L6kpP-M7v88vRND9eJYWE710hjznKhr8JdOwEEttKyQv7HJR4GmS33FqUhORZANkxiAKw6Au70SnrX7HGRK4IMR7Jf88R2sdNIgFGsube5ZdoUidvBhCV1wYavMGcIDMwC97ldjZE_E3kxlCqMh_4U478E_JMHYZojDeJWqXA"
  },
  {
    name: "EC on P-256",
    publicKey: `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEib19JWK6f22Evrp7SAE20CgVKhgq
UMZs/0jG8m43EV6wG1tAoVAvFYgVFkHGJlokAWpBaJB+DQVIJRwHNxGcbw==
-----END PUBLIC KEY-----
`,
    signature: "fJ4hFZkIXaXZDwi7j0q35RPjQuQV-Z_bK2m_S403diM08MT710VKMvFC6Oqqv7M5wGrv2fnjf4PxOJWU8Fmb6w"
  }
]

const keys: ReadonlyArray<[name: string, key: { publicKey: KeyObject; privateKey: KeyObject }, bytes: number]> = [
  ["RSA of 2048 bits", generateKeyPairSync("rsa", { modulusLength: 2048 }), 256],
  ["EC on P-256", generateKeyPairSync("ec", { namedCurve: "P-256" }), 64]
]

describe("CertificateLink", () => {
  it.each(vectors)("verifies a signature that OpenSSL made with $name", ({ publicKey, signature }) => {
    const key = createPublicKey(publicKey)
    assert.isTrue(CertificateLink.verify(`${unsigned}/${signature}`, key))
    assert.isFalse(CertificateLink.verify(`${unsigned.replace("01F2", "01F3")}/${signature}`, key))
    assert.isFalse(CertificateLink.verify(`${unsigned}//${signature}`, key))
    assert.isFalse(CertificateLink.verify(`${unsigned}/${signature.slice(0, -4)}`, key))
    assert.isFalse(CertificateLink.verify(unsigned, key))
  })

  it.each(keys)("makes the link of the official example with %s", (_, { privateKey, publicKey }, bytes) => {
    const link = CertificateLink.make(source, privateKey)
    assert.strictEqual(link.slice(0, unsigned.length + 1), `${unsigned}/`)
    const signature = link.slice(unsigned.length + 1)
    assert.match(signature, /^[\w-]+$/)
    assert.lengthOf(Buffer.from(signature, "base64url"), bytes)
    assert.isTrue(CertificateLink.verify(link, publicKey))
    for (const [, other] of keys) {
      if (other.publicKey !== publicKey) assert.isFalse(CertificateLink.verify(link, other.publicKey))
    }
  })

  it.each([
    ["InternalId", "1111111111-12345"],
    ["NipVatUe", "1111111111-NL1234+678*B12"]
  ] as const)("contains a context of the type %s", (type, value) => {
    const [, { privateKey, publicKey }] = keys[1]!
    const link = CertificateLink.make({ ...source, context: { type, value } }, privateKey)
    assert.include(link, `/certificate/${type}/${value}/1111111111/01F20A5D352AE590/`)
    assert.isTrue(CertificateLink.verify(link, publicKey))
    assert.strictEqual(new URL(link).href, link)
  })

  it("signs the link without its scheme, whichever that is", () => {
    const [, { privateKey, publicKey }] = keys[1]!
    const link = CertificateLink.make({ ...source, origin: "http://127.0.0.1:8080" }, privateKey)
    assert.isTrue(CertificateLink.verify(link, publicKey))
    assert.isTrue(CertificateLink.verify(link.replace("http:", "https:"), publicKey))
  })
})
