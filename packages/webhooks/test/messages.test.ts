/** The message of each error: what was found, the likely cause, and the remedy. */
import { createVerifier, signSync, WebhookVerificationError } from "@govoice/webhooks"
import { createHandler } from "@govoice/webhooks/web"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
const timestamp = "2026-11-20T10:00:00.000Z"
const now = () => Date.parse(timestamp)
const body = '{"id":"evt_1","type":"invoice.accepted"}'

const signed = (text: string) => ({
  "gov-event-id": "evt_1",
  "gov-timestamp": timestamp,
  "gov-signature": signSync({ secret, timestamp, body: text })
})
const headers = signed(body)

const messageOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    assert.instanceOf(error, WebhookVerificationError)
    return error.message
  }
  throw new Error("nothing was thrown")
}

const verify =
  (text: unknown, given: object, options: object = {}) =>
  () =>
    createVerifier({ secret, now, ...options }).verifySync(text as string, given as Record<string, string>)

describe("The message of a WebhookVerificationError", () => {
  it.each<[message: string, run: () => unknown]>([
    [
      "missing_header: Header gov-signature is missing. Pass all headers, and check that no proxy removes it.",
      verify(body, { ...headers, "gov-signature": undefined })
    ],
    [
      "malformed_header: Header gov-signature is not v1= and 64 lowercase hex digits. Check that no proxy changes it.",
      verify(body, { ...headers, "gov-signature": "v1=abc" })
    ],
    [
      "duplicate_header: Header gov-event-id occurs more than once. Check that no proxy repeats it.",
      verify(body, { ...headers, "Gov-Event-Id": "evt_1" })
    ],
    [
      "malformed_timestamp: Header gov-timestamp is not an ISO 8601 date in UTC. Check that no proxy changes it.",
      verify(body, { ...headers, "gov-timestamp": "2026-02-30T10:00:00Z" })
    ],
    [
      "timestamp_too_old: Signed 300.5 s ago; toleranceSeconds is 300. Check your clock.",
      verify(body, headers, { now: () => now() + 300_500 })
    ],
    [
      "timestamp_too_new: Signed 600 s from now; toleranceSeconds is 300. Check your clock.",
      verify(body, headers, { now: () => now() - 600_000 })
    ],
    [
      "no_match: No signature matches. Check that secret is the complete whsec_… value of this endpoint and that the body is unparsed.",
      verify(`${body} `, headers)
    ],
    [
      "id_mismatch: Header gov-event-id is not the id of the signed event. Check that no proxy changes it.",
      verify(body, { ...headers, "gov-event-id": "evt_2" })
    ],
    [
      "body_not_raw: The body was parsed or read before. Mount the handler before express.json(), or keep the raw body.",
      verify(JSON.parse(body), headers)
    ],
    [
      "body_not_json: The signature matches, but the body is not JSON. Check what the sender signs.",
      verify("id=evt_1", signed("id=evt_1"))
    ]
  ])("%s", (message, run) => {
    assert.strictEqual(messageOf(run), message)
  })

  it.each<[message: string, options: object | undefined]>([
    ["bad_secret: secret is undefined: is WEBHOOK_SECRET set?", undefined],
    ["bad_secret: secret is undefined: is WEBHOOK_SECRET set?", { secret: undefined }],
    ["bad_secret: secret is undefined: is WEBHOOK_SECRET set?", {}],
    ["bad_secret: secret is undefined: is WEBHOOK_SECRET set?", { secrets: [] }],
    ["bad_secret: secret is undefined: is WEBHOOK_SECRET set?", { secrets: [secret, undefined] }],
    ["bad_secret: secret is empty: is WEBHOOK_SECRET set?", { secret: "" }],
    ["bad_secret: secret is number: is WEBHOOK_SECRET set?", { secret: 7 }],
    ["bad_secret: secret contains white space or other invalid characters. Copy it again.", { secret: `${secret}\n` }],
    ["bad_secret: secret is not the complete whsec_… value. Copy it again.", { secret: secret.slice(6) }],
    ["bad_secret: secret is not the complete whsec_… value. Copy it again.", { secret: "whsec_" }]
  ])("%s (%j)", (message, options) => {
    assert.strictEqual(
      messageOf(() => createVerifier(options as { secret: string })),
      message
    )
    if (options && "secret" in options)
      assert.strictEqual(
        messageOf(() => signSync({ secret: options.secret as string, timestamp, body })),
        message
      )
  })

  it("contains no part of an invalid secret", () => {
    const invalid = [secret.slice(6), ` ${secret}`, `${secret}\u200b`, secret.replace("whsec_", "sk_test_")]
    for (const value of invalid) {
      try {
        createVerifier({ secret: value })
        assert.fail("no error")
      } catch (error) {
        const { message, stack } = error as Error
        for (const text of [message, stack ?? "", JSON.stringify(error)]) assert.notInclude(text, "kfUZ5")
      }
    }
  })
})

describe("The warning of a rejected webhook", () => {
  beforeEach(() => void vi.useFakeTimers({ now: now(), toFake: ["Date"] }))
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  it("is written once a minute for each code", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue(undefined)
    const handler = createHandler({ secret, now }, () => {})
    const send = (given: Record<string, string>) =>
      handler(new Request("https://example.com/", { method: "POST", headers: given, body: "{}" }))
    const codes = () => warn.mock.calls.map(([line]) => /^Webhook rejected: (\w+): /.exec(String(line))?.[1])

    for (let attempt = 0; attempt < 5; attempt += 1) {
      assert.strictEqual((await send(headers)).status, 400)
      assert.strictEqual((await send({})).status, 400)
    }
    assert.deepStrictEqual(codes(), ["no_match", "missing_header"])
    vi.setSystemTime(now() + 59_999)
    await send(headers)
    assert.lengthOf(codes(), 2)
    vi.setSystemTime(now() + 60_000)
    await send(headers)
    assert.deepStrictEqual(codes(), ["no_match", "missing_header", "no_match"])
  })
})
