import { createVerifier, type InvoiceEventType } from "@govoice/webhooks"
import { signedWebhook, signedWebhookAsync } from "@govoice/webhooks/testing"
import { afterEach, assert, describe, it, vi } from "vitest"

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"

/** The invoice in each event by the contract, written a second time. */
const expectations: Readonly<Record<InvoiceEventType, object>> = {
  "invoice.received": {
    status: "queued",
    official_number: null,
    submitted_at: null,
    completed_at: null,
    attempt_count: 0
  },
  "invoice.submitted": { status: "submitted", official_number: null, completed_at: null, upo_available: false },
  "invoice.accepted": { status: "accepted", upo_available: false, rejection: null, failure: null },
  "invoice.upo_available": { status: "accepted", upo_available: true },
  "invoice.rejected": { status: "rejected", official_number: null, failure: null },
  "invoice.failed": { status: "failed", official_number: null, rejection: null, attempt_count: 3, submitted_at: null }
}
const types = Object.keys(expectations) as Array<InvoiceEventType>

afterEach(() => void vi.restoreAllMocks())

describe("signedWebhook", () => {
  it.each(types)("returns a webhook of type %s that verifies", async (type) => {
    const { verify, verifyRequest } = createVerifier({ secret })
    const { body, headers, request, event } = signedWebhook({ secret, type })
    assert.deepStrictEqual((await verify(body, headers)).event, event)
    assert.deepStrictEqual((await verifyRequest(request)).event, event)
    assert.strictEqual(event.type, type)
    assert.deepInclude(event.data.invoice, expectations[type])
  })

  it.each(types)("returns an event of type %s with exactly the members of the contract", (type) => {
    const { event } = signedWebhook({ secret, type })
    assert.sameMembers(Object.keys(event), ["id", "object", "type", "mode", "created_at", "data"])
    assert.sameMembers(Object.keys(event.data.invoice), [
      "id",
      "object",
      "mode",
      "status",
      "scenario",
      "metadata",
      "document",
      "verification",
      "invoicing_mode",
      "official_mode",
      "send_by",
      "corrects",
      "warnings",
      "official_number",
      "rejection",
      "failure",
      "upo_available",
      "attempt_count",
      "next_attempt_at",
      "created_at",
      "updated_at",
      "submitted_at",
      "completed_at"
    ])
    assert.match(event.id, /^evt_[0-9a-hjkmnp-tv-z]{26}$/)
    assert.match(event.data.invoice.id, /^inv_[0-9a-hjkmnp-tv-z]{26}$/)
  })

  it("returns an official number in the national format with a valid checksum", () => {
    const number = signedWebhook({ secret, type: "invoice.accepted" }).event.data.invoice.official_number
    assert.match(number, /^\d{10}-\d{8}-[0-9A-F]{12}-[0-9A-F]{2}$/)
    let crc = 0
    for (const byte of Buffer.from(number.slice(0, 32))) {
      crc ^= byte
      for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : (crc << 1) & 0xff
    }
    assert.strictEqual(number.slice(33), crc.toString(16).toUpperCase().padStart(2, "0"))
  })

  it("returns an event with the given members of the invoice, time and id", () => {
    const now = Date.parse("2026-11-20T10:00:00Z")
    const { event, headers } = signedWebhook({
      secret,
      type: "invoice.rejected",
      id: "evt_1",
      now,
      data: { invoice: { metadata: { order: "42" }, mode: "live" } }
    })
    assert.strictEqual(event.id, "evt_1")
    assert.strictEqual(event.mode, "live")
    assert.deepStrictEqual(event.data.invoice.metadata, { order: "42" })
    assert.strictEqual(event.data.invoice.status, "rejected")
    assert.strictEqual(headers["Gov-Timestamp"], "2026-11-20T10:00:00.000Z")
    for (const clock of [() => now, new Date(now)]) {
      assert.strictEqual(
        signedWebhook({ secret, type: "x", now: clock }).headers["Gov-Timestamp"],
        headers["Gov-Timestamp"]
      )
    }
  })

  it("returns an event of a type that the package does not declare", () => {
    const { event } = signedWebhook({ secret, type: "invoice.archived", data: { reason: "old" } })
    assert.deepInclude(event as object, { type: "invoice.archived", data: { reason: "old" } })
  })

  it("throws a TypeError for an option that does not exist", () => {
    const options = { secret, type: "invoice.accepted", invoice: {} }
    assert.throws(
      () => signedWebhook(options),
      TypeError,
      'Unknown option "invoice". The options are secret, type, data,'
    )
  })

  it("gives every event a unique id", () => {
    const ids = Array.from({ length: 1000 }, () => signedWebhook({ secret, type: "invoice.accepted" }).event.id)
    assert.strictEqual(new Set(ids).size, 1000)
  })

  it("throws without node:crypto, where signedWebhookAsync returns a webhook that verifies", async () => {
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
    const { body, headers } = await signedWebhookAsync({ secret, type: "invoice.accepted" })
    assert.strictEqual((await createVerifier({ secret }).verify(body, headers)).event.type, "invoice.accepted")
    assert.throws(() => signedWebhook({ secret, type: "invoice.accepted" }), /Use sign/)
  })
})
