/** Invoices that are issued offline, in the sandbox. */
import { CertificateLink } from "../../../packages/ksef/src/crypto.ts"
import { createPublicKey, createHash, randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { assert, describe, it } from "vitest"
import * as SandboxCertificate from "../../../apps/server/src/invoices/sandbox/SandboxCertificate.ts"
import { problemOf } from "../support/agreement.ts"
import { submit, until } from "../support/client.ts"
import { type ApiSuite, codeOf, record } from "./suite.ts"

/** Registers the tests. */
export const testOffline = (api: ApiSuite): void => {
  const { call } = api

  const xml = () => readFile(new URL("../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")

  describe("invoices that are issued offline", () => {
    it("have a second code from the 201 on, which the certificate of the sandbox signed, and a last day", async () => {
      const invoice_xml = await xml()
      const headers = { "idempotency-key": randomUUID() }
      const body = { invoice_xml, invoicing_mode: "offline" }
      const first = await submit(call, api.tenant.testKey, { body, headers })
      assert.strictEqual(first.status, 201, first.text)
      const { id, ...shown } = record(first)
      // 20 November 2026 is a Friday.
      assert.deepInclude(shown, {
        invoicing_mode: "offline",
        official_mode: null,
        send_by: "2026-11-23",
        corrects: null
      })
      const { certificate_url: url, label } = shown["verification"] as Record<string, string>
      assert.strictEqual(label, "OFFLINE")
      const hash = createHash("sha256").update(invoice_xml).digest("base64url")
      const path = `qr-test.ksef.mf.gov.pl/certificate/Nip/5265877635/5265877635/${SandboxCertificate.serialNumber}/${hash}`
      assert.isTrue(url!.startsWith(`https://${path}/`), url)
      assert.isTrue(CertificateLink.verify(url!, createPublicKey(SandboxCertificate.key())))

      // The signature is another each time, and the code of an invoice is made once.
      const again = await submit(call, api.tenant.testKey, { body, headers })
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      assert.strictEqual(again.text, first.text)
      const online = await submit(call, api.tenant.testKey, { body: { invoice_xml }, headers })
      assert.strictEqual(codeOf(online), "idempotency_conflict")

      const show = () => call("GET", `/v1/invoices/${String(id)}`, { auth: api.tenant.testKey })
      const accepted = record(await until(show, (answer) => record(answer)["upo_available"] === true))
      assert.deepInclude(accepted, { official_mode: "offline", send_by: "2026-11-23" })
      assert.strictEqual((accepted["verification"] as Record<string, string>)["certificate_url"], url)
      const upo = await call("GET", `/v1/invoices/${String(id)}/upo`, { auth: api.tenant.testKey })
      assert.include(upo.text, "<TrybWysylki>Offline</TrybWysylki>")
    })

    it("are corrected technically when they were rejected, and not for another reason", async () => {
      const invoice_xml = await xml()
      const issue = async (
        members: Readonly<Record<string, unknown>>,
        scenario = "accepted",
        auth = api.tenant.testKey
      ) =>
        submit(call, auth, {
          body: { invoice_xml, invoicing_mode: "offline", ...members },
          headers: { "gov-sandbox-scenario": scenario }
        })
      const final = async (id: unknown) =>
        until(
          () => call("GET", `/v1/invoices/${String(id)}`, { auth: api.tenant.testKey }),
          (answer) => record(answer)["completed_at"] !== null
        )
      const rejected = String(record(await issue({}, "rejected"))["id"])
      const early = await issue({ corrects_invoice_id: rejected }, "rejected")
      if (early.status === 422) assert.match(problemOf(early).message, /only a rejected invoice/)
      await final(rejected)
      const correction = await issue({ corrects_invoice_id: rejected })
      assert.strictEqual(correction.status, 201, correction.text)
      assert.strictEqual(record(correction)["corrects"], rejected)
      await final(record(correction)["id"])

      const online = record(
        await submit(call, api.tenant.testKey, {
          body: { invoice_xml },
          headers: { "gov-sandbox-scenario": "rejected" }
        })
      )
      await final(online["id"])
      for (const [corrects_invoice_id, message] of [
        [rejected, /has an accepted correction already: inv_/],
        [record(correction)["id"], /is accepted: only a rejected invoice/],
        [online["id"], /was not issued offline/],
        ["inv_x", /is not an invoice of this organization and mode/],
        ["inv_01m7q5cqg0e6786ptds43fm4k3", /is not an invoice of this organization and mode/]
      ] as const) {
        const answer = await issue({ corrects_invoice_id })
        assert.deepInclude(problemOf(answer), { code: "invalid_parameter", param: "corrects_invoice_id" })
        assert.match(problemOf(answer).message, message)
      }
      const stranger = await issue({ corrects_invoice_id: rejected }, "accepted", api.other.testKey)
      assert.match(problemOf(stranger).message, /is not an invoice of this organization and mode/)
    })

    it("are refused without the parts of their codes, and in a mode that does not exist", async () => {
      for (const body of [
        { invoice_xml: "<a/>", invoicing_mode: "offline" },
        { invoice_xml: await xml(), invoicing_mode: "emergency" }
      ]) {
        const answer = await submit(call, api.tenant.testKey, { body })
        assert.deepInclude(problemOf(answer), { code: "invalid_parameter", param: "invoicing_mode" })
      }
    })
  })
}
