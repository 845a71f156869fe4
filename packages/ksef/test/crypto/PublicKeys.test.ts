import { assert, describe, it } from "@effect/vitest"
import { Oaep, PublicKeys } from "@govoice/ksef/crypto"
import { makePair, type Options } from "../support/certificates.ts"

const at = (text: string) => Date.parse(text)
const now = at("2026-11-20T12:00:00Z")

const listed = (
  id: string,
  from: string,
  to: string,
  options: Options & { readonly usage?: ReadonlyArray<string> } = {}
) => ({
  certificate: makePair(options).der.toString("base64"),
  publicKeyId: id,
  usage: options.usage ?? ["KsefTokenEncryption"],
  validFrom: from,
  validTo: to
})

const select = (list: ReadonlyArray<PublicKeys.Listed>, when = now) =>
  PublicKeys.select(list, "KsefTokenEncryption", when)?.id

describe("PublicKeys", () => {
  it("selects the valid key whose validity began last", () => {
    const list = [
      listed("old", "2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
      listed("current", "2026-11-01T00:00:00+01:00", "2027-01-01T00:00:00Z"),
      listed("next", "2026-12-01T00:00:00Z", "2028-01-01T00:00:00Z"),
      listed("expired", "2026-11-10T00:00:00Z", "2026-11-19T00:00:00Z")
    ]
    assert.strictEqual(select(list), "current")
    assert.strictEqual(select(list.toReversed()), "current")
    assert.strictEqual(select(list, at("2026-12-01T00:00:00Z")), "next")
    assert.strictEqual(select(list, at("2024-12-31T23:59:59Z")), undefined)
    assert.strictEqual(select(list, at("2028-01-01T00:00:00Z")), undefined)
  })

  it("selects by usage, also where one key has both", () => {
    const list = [
      listed("session", "2026-11-01T00:00:00Z", "2027-01-01T00:00:00Z", { usage: ["SymmetricKeyEncryption"] }),
      listed("both", "2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z", {
        usage: ["SymmetricKeyEncryption", "KsefTokenEncryption"]
      })
    ]
    assert.strictEqual(select(list), "both")
    assert.strictEqual(PublicKeys.select(list, "SymmetricKeyEncryption", now)?.id, "session")
  })

  it("skips keys that are too short, of another kind, or unreadable", () => {
    const [from, to] = ["2026-11-01T00:00:00Z", "2027-01-01T00:00:00Z"]
    const usable = listed("usable", "2026-01-01T00:00:00Z", to)
    const unusable = [
      listed("short", from, to, { key: "rsa-1024" }),
      listed("ec", from, to, { key: "P-256" }),
      { ...usable, publicKeyId: "noise", validFrom: from, certificate: "bm9pc2U=" },
      { ...usable, publicKeyId: "empty", validFrom: from, certificate: "" },
      { ...usable, publicKeyId: "no time", validFrom: "soon" }
    ]
    assert.strictEqual(select([...unusable, usable]), "usable")
    assert.strictEqual(select(unusable), undefined)
  })

  it("encrypts for the private key of the certificate", () => {
    const pair = makePair()
    const key = PublicKeys.read(pair.der.toString("base64"))
    assert.strictEqual(Oaep.decrypt(pair.key, Oaep.encrypt(key!, Buffer.from("x")))?.toString(), "x")
  })

  it("reads a bare public key, too", () => {
    const pair = makePair()
    const spki = pair.publicKey.export({ type: "spki", format: "der" })
    assert.isTrue(PublicKeys.read(spki.toString("base64"))?.equals(pair.publicKey))
  })
})
