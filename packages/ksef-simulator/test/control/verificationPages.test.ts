import { createPrivateKey, X509Certificate } from "node:crypto"
import { CertificateLink } from "@govoice/ksef/crypto"
import { VerificationLink } from "@govoice/ksef/format"
import { assert, describe, it } from "vitest"
import type { IssuedCertificate } from "../../src/keys/Authority.ts"
import { Client, sha256 } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { manualTime, start } from "../support/simulator.ts"

const textOf = async (url: string): Promise<string> => {
  const answer = await fetch(url)
  assert.strictEqual(answer.status, 200)
  assert.match(answer.headers.get("content-security-policy") ?? "", /^default-src 'none'/)
  return answer.text()
}

const noon = Date.UTC(2026, 10, 22, 10)
const issueDate = "2026-11-22"

const firstCode = (simulator: { readonly url: string; readonly nip: string }, document: string, date = issueDate) =>
  VerificationLink.make({
    origin: VerificationLink.originOf(simulator.url),
    sellerNip: simulator.nip,
    issueDate: date,
    documentHash: sha256(document)
  })

describe("the pages behind the codes of invoices", () => {
  it("show whether an invoice is in KSeF, and lead from a rejected one to its technical correction", async () => {
    const simulator = await start({ now: manualTime(noon).now })
    const client = await Client.login(simulator)
    const session = await client.open()
    const seller = simulator.nip
    const document = fa3({ number: "1", issueDate, seller })
    const code = firstCode(simulator, document)
    assert.include(await textOf(code), "The invoice is not in KSeF")
    const { ksefNumber } = await client.submit(session, document, { offlineMode: true })
    const shown = await textOf(code)
    assert.include(shown, "The invoice is in KSeF")
    assert.include(shown, ksefNumber!)
    assert.include(shown, "Offline")

    const rejected = fa3({ number: "2", issueDate: "2049-01-01", seller })
    await client.submit(session, rejected, { offlineMode: true })
    const first = firstCode(simulator, rejected, "2049-01-01")
    assert.include(await textOf(first), "The invoice is not in KSeF")
    const correction = fa3({ number: "2", issueDate, seller })
    const changes = { offlineMode: true, hashOfCorrectedInvoice: sha256(rejected) }
    const corrected = await client.submit(session, correction, changes)
    const page = await textOf(first)
    assert.include(page, "The invoice was corrected technically")
    assert.include(page, corrected.ksefNumber!)
    assert.include(page, new URL(firstCode(simulator, correction)).pathname)
  })

  it("confirm the issuer of an invoice by an Offline certificate that is valid, and by no other", async () => {
    const simulator = await start()
    const origin = VerificationLink.originOf(simulator.url)
    const sign = ({ certificate, privateKey }: IssuedCertificate) =>
      CertificateLink.make(
        {
          origin,
          context: { type: "Nip", value: simulator.nip },
          sellerNip: simulator.nip,
          serialNumber: new X509Certificate(certificate).serialNumber,
          documentHash: Buffer.alloc(32, 7)
        },
        createPrivateKey(privateKey)
      )
    const { nip } = simulator
    for (const key of ["ec", "rsa"] as const) {
      const link = sign(simulator.issueCertificate({ nip, kind: "offline", key }))
      assert.include(await textOf(link), "The issuer is confirmed")
      assert.include(await textOf(link.replace(/\/Nip\/\d{10}/, "/Nip/1111111111")), "The signature is not one of")
    }
    assert.include(await textOf(sign(simulator.certificate)), "not of the type Offline")
    const past = Date.now() - 1000
    const expired = simulator.issueCertificate({ nip, kind: "offline", validFrom: past - 86_400_000, validTo: past })
    assert.include(await textOf(sign(expired)), "not valid now")
    const unknown = sign(simulator.issueCertificate({ nip, kind: "offline" })).replace(/\/01[0-9A-F]{14}\//, "/00/")
    assert.include(await textOf(unknown), "issued no certificate with this serial number")
  })
})
