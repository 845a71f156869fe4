import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { VerificationLink } from "@govoice/ksef/format"
import * as fc from "fast-check"

describe("VerificationLink", () => {
  it("is the link of the official example", () => {
    assert.strictEqual(
      VerificationLink.make({
        origin: VerificationLink.originOf("test"),
        sellerNip: "1111111111",
        issueDate: "2026-02-01",
        documentHash: "UtQp9Gpc51y+u3xApZjIjgkpZ01js+J8KflSPW8WzIE="
      }),
      "https://qr-test.ksef.mf.gov.pl/invoice/1111111111/01-02-2026/UtQp9Gpc51y-u3xApZjIjgkpZ01js-J8KflSPW8WzIE"
    )
  })

  it("contains the hash as Node writes Base64url, and needs no escaping", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.constantFrom("test", "demo", "prod"), (document, environment) => {
        const hash = createHash("sha256").update(document)
        const link = VerificationLink.make({
          origin: VerificationLink.originOf(environment),
          sellerNip: "5265877635",
          issueDate: "2026-11-20",
          documentHash: hash.copy().digest("base64")
        })
        assert.strictEqual(link.split("/").at(-1), hash.digest("base64url"))
        assert.strictEqual(new URL(link).href, link)
        assert.strictEqual(new URL(link).host, VerificationLink.hosts[environment])
      })
    )
  })
  it("leads to the pages of a simulator, which has them itself", () => {
    assert.strictEqual(VerificationLink.originOf("http://127.0.0.1:8080/v2"), "http://127.0.0.1:8080")
  })
})
