import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { LimitAnswers, LoginAnswers, Operation, SessionAnswers } from "@govoice/ksef/protocol"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as OpenApi from "./openApi.ts"

const answers: ReadonlyArray<[Operation.Operation, Schema.ConstraintDecoder<unknown>]> = [
  ["publicKeys", LoginAnswers.PublicKeys],
  ["challenge", LoginAnswers.Challenge],
  ["loginWithToken", LoginAnswers.LoginStarted],
  ["loginWithXades", LoginAnswers.LoginStarted],
  ["loginStatus", LoginAnswers.LoginStatus],
  ["redeem", LoginAnswers.Tokens],
  ["refresh", LoginAnswers.Refreshed],
  ["openOnline", SessionAnswers.OnlineSessionOpened],
  ["openBatch", SessionAnswers.BatchSessionOpened],
  ["send", SessionAnswers.InvoiceSent],
  ["sessionStatus", SessionAnswers.SessionStatus],
  ["sessionInvoices", SessionAnswers.InvoicePage],
  ["invoiceStatus", SessionAnswers.InvoiceStatus],
  ["contextLimits", LimitAnswers.ContextLimits],
  ["rateLimits", LimitAnswers.RateLimits]
]

const withoutUnknown = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUnknown)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "unknownMember")
      .map(([name, member]) => [name, withoutUnknown(member)])
  )
}

describe("the schemas of answers", () => {
  it("have no session whose reference is no segment of an address", () => {
    const opened = (referenceNumber: string) =>
      Schema.decodeUnknownOption(SessionAnswers.OnlineSessionOpened)({
        referenceNumber,
        validUntil: "2026-11-26T08:00:00Z"
      })
    assert.strictEqual(opened("20250625-SO-2F14610000-242991F8C9-B4")._tag, "Some")
    for (const reference of ["", "..", "a\0", "a/b", "a".repeat(101)])
      assert.strictEqual(opened(reference)._tag, "None")
  })

  it("cover every operation that answers JSON", () => {
    const withJson = Object.entries(Operation.operations).filter(
      ([, { method, path, success }]) =>
        OpenApi.operationAt(method, path)?.responses[success]?.content?.["application/json"] !== undefined
    )
    assert.sameMembers(
      answers.map(([operation]) => operation),
      withJson.map(([operation]) => operation)
    )
  })

  it.each(answers)(
    "read the least and the fullest answer that the OpenAPI document allows for %s, without unknown members",
    (operation, schema) => {
      const { method, path } = Operation.operations[operation]
      const { least, most } = OpenApi.answers(method, path)
      const decode = Schema.decodeUnknownSync(schema)
      assert.isDefined(decode(least))
      // Limits are a record by group, where anything else is no group.
      const decoded = decode(operation === "rateLimits" ? withoutUnknown(most) : most)
      assert.notInclude(JSON.stringify(decoded), "unknownMember")
    }
  )

  it("read times as milliseconds, with seven digits, with an offset, and without one", () => {
    const decode = Schema.decodeUnknownSync(LoginAnswers.Token)
    const at = (validUntil: string) => decode({ token: "x", validUntil }).validUntil
    const wanted = Date.parse("2025-07-11T12:23:56.015Z")
    assert.strictEqual(at("2025-07-11T12:23:56.0154302+00:00"), wanted)
    assert.strictEqual(at("2025-07-11T14:23:56.0154302+02:00"), wanted)
    assert.strictEqual(at("2025-07-11T12:23:56.0154302Z"), wanted)
    assert.strictEqual(at("2025-07-11T12:23:56.0154302"), wanted)
    // Postgres has no year 0, and reads no year of five digits.
    assert.strictEqual(at("0001-01-01T00:00:00+01:24"), Date.parse("0001-01-01T00:00:00Z"))
    assert.strictEqual(at("9999-12-31T23:59:59.9999999-01:00"), Date.parse("9999-12-31T23:59:59.999Z"))
    for (const wrong of ["", "soon", "2025-07-11", "11.07.2025 12:23", "2025-13-11T12:23:56Z"]) {
      assert.throws(() => at(wrong))
    }
  })

  it("redact tokens and signed links, in values and in errors", () => {
    const tokens = {
      accessToken: { token: "secret", validUntil: "2025-07-11T12:23:56Z" },
      refreshToken: { token: "secret" }
    }
    let printed = ""
    try {
      Schema.decodeUnknownSync(LoginAnswers.Tokens)(tokens)
    } catch (error) {
      printed = inspect(error, { depth: null, showHidden: true })
    }
    assert.include(printed, "validUntil")
    assert.notInclude(printed, "secret")

    const decoded = Schema.decodeUnknownSync(SessionAnswers.BatchSessionOpened)({
      referenceNumber: "x",
      partUploadRequests: [{ ordinalNumber: 1, method: "PUT", url: "https://secret", headers: { a: null } }]
    })
    assert.notInclude(inspect(decoded, { depth: null, showHidden: true }) + JSON.stringify(decoded), "secret")
    assert.strictEqual(Redacted.value(decoded.partUploadRequests[0]!.url), "https://secret")
  })

  it("refuse an answer that lacks a required member, or has one of another type", () => {
    const refuses = (schema: Schema.ConstraintDecoder<unknown>, value: unknown) =>
      assert.throws(() => Schema.decodeUnknownSync(schema)(value))
    refuses(LoginAnswers.Tokens, {})
    for (const reference of ["", "."]) refuses(SessionAnswers.InvoiceSent, { referenceNumber: reference })
    refuses(LoginAnswers.LoginStatus, { status: { code: "200" } })
    refuses(LoginAnswers.Challenge, { challenge: "x", timestampMs: "1" })
    refuses(SessionAnswers.InvoiceSent, [])
    refuses(SessionAnswers.InvoiceSent, null)
    refuses(LoginAnswers.Token, { token: "", validUntil: "2025-07-11T12:23:56Z" })
  })

  it("read the status and the messages of the beacon", () => {
    const decode = Schema.decodeUnknownSync(LimitAnswers.Beacon)
    assert.strictEqual(decode({ status: "AVAILABLE" }).status, "AVAILABLE")
    const messages = [{ id: 1, title: "Prace", text: null, category: "X" }]
    assert.strictEqual(decode({ status: "MAINTENANCE", messages }).messages?.[0]?.title, "Prace")
  })
})
