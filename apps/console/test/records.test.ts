/**
 * Texts that the screens derive from records: advice, faults of URLs and numbers.
 */
import { DeliveryVerdict } from "@govoice/core"
import type { WebhookDelivery } from "@govoice/client"
import { assert, describe, it } from "vitest"
import { adviceFor, bySummary } from "../src/screens/deliveries/whatToDo.ts"
import { faultOf, partsOf } from "../src/url/endpointUrl.ts"
import { isNip } from "../src/screens/live/nip.ts"
import { receivers } from "../src/snippets/receiver.ts"

const delivery = (change: Partial<WebhookDelivery>): WebhookDelivery => ({
  id: "wd_01m7q5cqg0e6786ptds43fm4k3",
  object: "webhook_delivery",
  eventId: "evt_01m7q5cqg0e6786ptds43fm4k3",
  eventType: "invoice.accepted",
  endpointId: "we_01m7q5cqg0e6786ptds43fm4k3",
  status: "failed",
  attemptCount: 1,
  lastHttpStatus: null,
  lastErrorSummary: null,
  nextRetryAt: null,
  createdAt: "2026-11-22T10:40:02.000Z",
  updatedAt: "2026-11-22T10:40:02.000Z",
  lastAttemptedAt: "2026-11-22T10:40:02.000Z",
  deliveredAt: null,
  ...change
})

describe("advice about a delivery", () => {
  const ends: ReadonlyArray<readonly [Parameters<typeof DeliveryVerdict.judge>[0], string]> = [
    [{ _tag: "answered", status: 404 }, "gone"],
    [{ _tag: "answered", status: 302 }, "redirect"],
    [{ _tag: "answered", status: 401 }, "refused"],
    [{ _tag: "answered", status: 400 }, "clientError"],
    [{ _tag: "answered", status: 429 }, "slow"],
    [{ _tag: "answered", status: 503 }, "serverError"],
    [{ _tag: "timed_out" }, "timeout"],
    [{ _tag: "connection_failed" }, "connection"],
    [{ _tag: "interrupted" }, "interrupted"],
    [{ _tag: "quarantine_failed" }, "interrupted"],
    [{ _tag: "secret_unavailable" }, "operator"],
    [{ _tag: "lease_too_short" }, "operator"],
    [{ _tag: "blocked" }, "address"],
    [{ _tag: "invalid_request" }, "operator"]
  ]

  // The sentences come from the table that the service writes, so a new one has to get its advice here.
  it.each(ends)("for the result $0._tag $0.status is %s", (end, advice) => {
    const { summary } = DeliveryVerdict.judge(end, false)
    const lastHttpStatus = end._tag === "answered" ? end.status : null
    assert.strictEqual(adviceFor(delivery({ lastErrorSummary: summary, lastHttpStatus })), advice)
  })

  it("exists for every result that the service writes, and for no other sentence", () => {
    const every: Readonly<Record<DeliveryVerdict.AttemptResult["_tag"], true>> = {
      answered: true,
      timed_out: true,
      connection_failed: true,
      interrupted: true,
      quarantine_failed: true,
      secret_unavailable: true,
      lease_too_short: true,
      blocked: true,
      disabled: true,
      invalid_request: true
    }
    const covered = new Set(ends.map(([{ _tag }]) => _tag))
    // A disabled endpoint has a status of its own.
    assert.sameMembers([...covered, "disabled"], Object.keys(every))
    const sentences = ends
      .filter(([{ _tag }]) => _tag !== "answered")
      .map(([end]) => DeliveryVerdict.judge(end, false).summary)
    assert.sameMembers(Object.keys(bySummary), sentences)
  })

  it("is the status alone for a delivery that succeeded, is pending or has a disabled endpoint", () => {
    assert.strictEqual(adviceFor(delivery({ status: "succeeded", lastHttpStatus: 204 })), "succeeded")
    assert.strictEqual(adviceFor(delivery({ status: "pending", attemptCount: 0 })), "underway")
    assert.strictEqual(adviceFor(delivery({ status: "endpoint_disabled" })), "disabled")
  })
})

describe("the URL of an endpoint", () => {
  it("is checked in the page for its scheme, user information and fragment", () => {
    for (const url of [
      "shop",
      "ftp://shop.example.com",
      "https://me:secret@shop.example.com",
      "https://a.example.com/#x"
    ])
      assert.isDefined(faultOf(url), url)
    for (const url of ["https://shop.example.com/hooks", "http://127.0.0.1:8080/"])
      assert.isUndefined(faultOf(url), url)
  })

  it("is shown unchanged if it cannot be parsed", () => {
    assert.deepStrictEqual(partsOf("no url"), { host: "no url", path: "" })
    assert.deepStrictEqual(partsOf("https://a.example.com/b?c=1"), { host: "a.example.com", path: "/b?c=1" })
  })

  it("is escaped in the string of a snippet", () => {
    for (const { code } of receivers('https://a.example.com/");process.exit(1)//'))
      assert.notInclude(code, '");process.exit')
  })
})

it("a NIP has ten digits with a check digit", () => {
  assert.isTrue(isNip("5265877635"))
  for (const text of ["5265877636", "526587763", "52658776350", "PL5265877635", ""]) assert.isFalse(isNip(text), text)
})
