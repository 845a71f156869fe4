/**
 * Texts that the screens derive from records: advice, faults of URLs and numbers.
 */
import type { WebhookDelivery } from "@govoice/client"
import { assert, describe, it } from "vitest"
import { adviceFor } from "../src/screens/deliveries/whatToDo.ts"
import { faultOf, partsOf } from "../src/url/endpointUrl.ts"
import { isContext, isNip, tidied } from "../src/screens/live/context.ts"
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
  it.each([
    [404, "gone"],
    [302, "redirect"],
    [401, "refused"],
    [400, "clientError"],
    [429, "slow"],
    [503, "serverError"]
  ])("after HTTP %i is %s", (status, advice) => {
    const lastErrorSummary = `The endpoint returned HTTP ${status}.`
    assert.strictEqual(adviceFor(delivery({ lastErrorSummary, lastHttpStatus: status })), advice)
  })

  it.each([
    ["The request timed out.", "timeout"],
    ["The signing secret is temporarily unavailable.", "operator"],
    ["A sentence of a later version.", "other"]
  ])("without an answer is that of its sentence: %s", (lastErrorSummary, advice) => {
    assert.strictEqual(adviceFor(delivery({ lastErrorSummary })), advice)
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

it("a context has the form of its type", () => {
  const values = { Nip: "5265877635", InternalId: "5265877635-12346", NipVatUe: "5265877635-DE123456789" } as const
  const types = Object.keys(values) as ReadonlyArray<keyof typeof values>
  for (const type of types) {
    assert.deepStrictEqual(
      types.filter((one) => isContext(one, values[type])),
      [type]
    )
  }
  assert.isFalse(isContext("InternalId", "5265877636-12346"))
  assert.strictEqual(tidied("Nip", " 526-587 76-35"), "5265877635")
  assert.strictEqual(tidied("NipVatUe", " 5265877635-de 123456789"), "5265877635-DE123456789")
})
