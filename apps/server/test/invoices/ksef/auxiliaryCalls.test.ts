/** A call that fails before the one that a step is about: what it means for an invoice or a session, for all pairs of calls. */
import { assert, describe, it } from "@effect/vitest"
import { KsefError } from "@govoice/ksef/client"
import { type Operation, Problem } from "@govoice/ksef/protocol"
import { type Simulator, startSimulator } from "@govoice/ksef-simulator"
import { Effect, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, beforeAll } from "vitest"
import { failureOf, isUnreadableSession, mayBeDone } from "../../../src/invoices/ksef/CallFailure.ts"
import * as LaneCalls from "../../../src/invoices/ksef/LaneCalls.ts"
import { makeProcess } from "../../../src/invoices/ksef/LaneProcess.ts"
import { authorized, type LaneContext, stepFailure } from "../../../src/invoices/ksef/LaneContext.ts"
import * as Logins from "../../../src/invoices/ksef/Logins.ts"
import { PublicKeyCache } from "../../../src/invoices/ksef/LaneCalls.ts"
import { RateLimitWindows } from "../../../src/invoices/ksef/RateLimitWindows.ts"
import * as live from "../../support/live.ts"

const auxiliary = [
  "publicKeys",
  "challenge",
  "loginWithToken",
  "loginWithXades",
  "loginStatus",
  "redeem",
  "refresh"
] as const satisfies ReadonlyArray<Operation.Operation>
type Auxiliary = (typeof auxiliary)[number]

const main = [
  "openOnline",
  "send",
  "closeOnline",
  "openBatch",
  "closeBatch",
  "sessionStatus",
  "sessionInvoices",
  "invoiceStatus",
  "invoiceUpo",
  "invoiceUpoByKsefNumber",
  "invoice"
] as const satisfies ReadonlyArray<Operation.Operation>

const answered = (reason: KsefError["reason"], status: number, body = "", retryAfterMs?: number) => ({
  reason,
  status,
  retryAfterMs,
  outcome: "answered" as const,
  problem: Problem.read(body)
})
const forbidden = (members: object) =>
  answered("forbidden", 403, JSON.stringify({ title: "Forbidden", status: 403, detail: "no", ...members }))
const rejected = (code: number) =>
  answered("rejected", 400, JSON.stringify({ title: "Bad Request", status: 400, errors: [{ code }] }))

const failures: Readonly<Record<string, Omit<ConstructorParameters<typeof KsefError>[0], "call" | "message">>> = {
  "500": answered("server-error", 500),
  "503 with Retry-After": answered("server-error", 503, "", 20_000),
  page: answered("html", 200, "<html></html>"),
  unreadable: answered("unreadable", 200),
  reset: { reason: "connection-lost", outcome: "unknown" },
  timeout: { reason: "timeout", outcome: "unknown" },
  refused: { reason: "connect-failed", outcome: "unsent" },
  "429": answered("rate-limited", 429, "", 20_000),
  "401": answered("unauthorized", 401),
  "410": answered("gone", 410),
  "403 without a reason": answered("forbidden", 403),
  "403 of a block": forbidden({ reasonCode: "security-service-blocked" }),
  "403 of a resource": forbidden({ reasonCode: "insufficient-resource-access" }),
  "403 of a right": forbidden({ reasonCode: "missing-permissions" }),
  "400 without a code": answered("rejected", 400),
  "400/21405": rejected(21405),
  "400/21155": rejected(21155),
  "400/21173": rejected(21173),
  "400/21180": rejected(21180),
  "400/21418": rejected(21418),
  "400/21470": rejected(21470)
}

const organizationId = "org_1"
const updatedAt = new Date(0)

let simulator: Simulator
beforeAll(async () => {
  simulator = await startSimulator()
})
afterAll(() => simulator.close())

/** A lane whose login makes this call, which fails. */
const setUp = (failing: Auxiliary, error: KsefError) => {
  const token = { token: Redacted.make("t"), validUntil: Infinity }
  const answers = {
    publicKeys: [],
    challenge: { challenge: "c", timestampMs: 0 },
    loginWithToken: { referenceNumber: "r", authenticationToken: { token: Redacted.make("a") } },
    loginWithXades: { referenceNumber: "r", authenticationToken: { token: Redacted.make("a") } },
    loginStatus: { status: { code: 200, description: "", details: [] } },
    redeem: { accessToken: token, refreshToken: token },
    refresh: { accessToken: token }
  }
  const answer = (call: Auxiliary) =>
    call === failing ? Effect.fail(error) : (Effect.succeed(answers[call]) as Effect.Effect<unknown>)
  const client = {
    publicKeys: answer("publicKeys"),
    challenge: answer("challenge"),
    ...Object.fromEntries(
      auxiliary
        .filter((call) => call !== "publicKeys" && call !== "challenge")
        .map((call) => [call, () => answer(call)])
    )
  }
  const credential = failing === "loginWithXades" ? live.certificate(simulator) : live.token("secret")
  const credentials = {
    read: () => Effect.succeed(Option.some({ context: { type: "Nip", value: simulator.nip }, credential, updatedAt })),
    recordState: () => Effect.succeed(true)
  }
  const process = makeProcess(8)
  const lane = { context: simulator.nip, windows: new RateLimitWindows({}, { used: {}, blocked: {} }) }
  const call = LaneCalls.make(process, lane)
  const keys =
    failing === "publicKeys"
      ? // The client of the test fails one call, and has the calls of this table alone.
        new PublicKeyCache(client as unknown as ConstructorParameters<typeof PublicKeyCache>[0])
      : { get: () => Effect.succeed({}), invalidate: () => {} }
  // Of an expired access token, the login is refreshed.
  const expired = { credentialUpdatedAt: 0, accessUntil: 0, earlyMs: 0, refreshUntil: Infinity }
  const stored = failing === "refresh" ? { ...expired, access: token.token, refresh: token.token } : undefined
  const logins = Logins.make({
    call,
    client,
    credentials,
    keys,
    tokens: { read: () => Effect.succeed(stored), write: () => Effect.succeed(true) },
    tokenLogins: process.tokenLogins,
    failedLogins: process.failedLogins
    // The members that a login reads.
  } as unknown as Parameters<typeof Logins.make>[0])
  const organization = { id: organizationId, credential_updated_at: updatedAt, credential_state: "accepted" }
  // A call needs these members of the lane alone.
  return {
    call,
    credentials,
    keys,
    lane,
    logins,
    organizations: new Map([[organizationId, organization]]),
    process,
    store: { write: () => Effect.sync(() => lane.windows.beginStore()()) }
    // The members that the calls of this table read.
  } as unknown as LaneContext
}

describe("a failure of an auxiliary call", () => {
  for (const failing of auxiliary) {
    it.effect(`is none of the call that follows, and sends nothing: ${failing}`, () =>
      Effect.gen(function* () {
        let failed = 0
        for (const [name, members] of Object.entries(failures)) {
          for (const call of main) {
            const pair = `${failing} (${name}), ${call}`
            const context = setUp(failing, new KsefError({ ...members, call: failing, message: name }))
            let made = 0
            const calling = authorized(context, organizationId, call, () => Effect.sync(() => void (made += 1)))
            const running = yield* Effect.forkChild(Effect.result(calling))
            yield* TestClock.adjust("10 minutes")
            const result = yield* Fiber.join(running)
            // A refresh token that is not accepted is replaced by a login.
            if (result._tag === "Success") {
              assert.strictEqual(failing, "refresh", pair)
              assert.strictEqual(made, 1, pair)
              continue
            }
            failed += 1
            const error = result.failure
            assert.strictEqual(made, 0, pair)
            assert.isUndefined(failureOf(error, call), pair)
            assert.isFalse(mayBeDone(error, "send"), pair)
            assert.isFalse(isUnreadableSession(error), pair)
            if (error._tag === "LaneLost" || error._tag === "SqlError") throw new Error(pair)
            const { kind, reason } = stepFailure(context, error, 0)
            assert.include(["attempt", "postponed"], kind, pair)
            assert.match(reason.code, /^gateway_(unavailable|limit|blocked|credential_refused)$/, pair)
          }
        }
        assert.isAbove(failed, 100)
      })
    )
  }
})

describe("a failure of the send itself", () => {
  it.effect("may have been carried out unless nothing was sent, or KSeF answered with a refusal", () =>
    Effect.gen(function* () {
      const ambiguous: Array<string> = []
      for (const [name, members] of Object.entries(failures)) {
        const context = setUp("refresh", new KsefError({ ...members, call: "send", message: name }))
        Object.assign(context, {
          logins: { accessToken: () => Effect.succeed(Redacted.make("t")), rejectToken: () => {} }
        })
        const error = new KsefError({ ...members, call: "send", message: name })
        const failed = yield* Effect.flip(authorized(context, organizationId, "send", () => Effect.fail(error)))
        if (mayBeDone(failed, "send")) ambiguous.push(name)
      }
      assert.sameMembers(ambiguous, [
        "500",
        "503 with Retry-After",
        "page",
        "unreadable",
        "reset",
        "timeout",
        "400 without a code"
      ])
    })
  )
})
