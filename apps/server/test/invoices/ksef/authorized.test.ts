/** Calls with an access token that KSeF does not accept any more, or answers with a 403 without a reason. */
import { assert, describe, it } from "@effect/vitest"
import { KsefError } from "@govoice/ksef/client"
import { type Operation, Problem } from "@govoice/ksef/protocol"
import { Clock, Effect, Option, Redacted } from "effect"
import { authorized, type LaneContext } from "../../../src/invoices/ksef/LaneContext.ts"
import * as LaneCalls from "../../../src/invoices/ksef/LaneCalls.ts"
import { makeProcess } from "../../../src/invoices/ksef/LaneProcess.ts"
import * as Logins from "../../../src/invoices/ksef/Logins.ts"
import { RateLimitWindows } from "../../../src/invoices/ksef/RateLimitWindows.ts"

const minute = 60_000
const organizationId = "org_1"

const failure = (call: Operation.Operation, reason: KsefError["reason"], body: string) =>
  new KsefError({ call, reason, outcome: "answered", problem: Problem.read(body), message: "refused" })

const problem = (members: object) =>
  JSON.stringify({ title: "Forbidden", status: 403, detail: "no", instance: "/", ...members })

/** A lane of one organization, and a national system that counts logins and refreshes. Each token has a name of its own. */
const setUp = (options: { readonly isRefreshTokenDead?: boolean } = {}) =>
  Effect.gen(function* () {
    const counts = { logins: 0, refreshes: 0, issued: 0, stores: 0 }
    const updatedAt = new Date(0)
    const token = () =>
      Effect.map(Clock.currentTimeMillis, (now) => ({
        token: Redacted.make(`token ${(counts.issued += 1)}`),
        validUntil: now + 15 * minute
      }))
    const client = {
      challenge: Effect.succeed({ challenge: "c", timestampMs: 0 }),
      loginWithToken: () =>
        Effect.succeed({ referenceNumber: "r", authenticationToken: { token: Redacted.make("a") } }),
      loginStatus: () => Effect.succeed({ status: { code: 200, description: "", details: [] } }),
      redeem: () =>
        Effect.gen(function* () {
          counts.logins += 1
          return { accessToken: yield* token(), refreshToken: { ...(yield* token()), validUntil: Infinity } }
        }),
      // Long enough for others to come while it runs.
      refresh: () =>
        Effect.gen(function* () {
          counts.refreshes += 1
          yield* Effect.sleep(50)
          const gone = { exception: { exceptionDetailList: [{ exceptionCode: 21301, exceptionDescription: "gone" }] } }
          if (options.isRefreshTokenDead === true) return yield* failure("refresh", "rejected", JSON.stringify(gone))
          return { accessToken: yield* token() }
        })
    }
    const credentials = {
      read: () =>
        Effect.succeed(
          Option.some({
            context: { type: "Nip", value: "5265877635" },
            credential: { type: "ksef_token", token: Redacted.make("secret") },
            updatedAt
          })
        ),
      recordState: () => Effect.void
    }
    const lane = {
      context: "5265877635",
      windows: new RateLimitWindows({}, { used: {}, blocked: {} })
    }
    const process = makeProcess(8)
    const call = LaneCalls.make(process, lane)
    let stored: Logins.Tokens | undefined
    // Members that a login with a stored credential does not use are left out, so the types are named here.
    const logins = Logins.make({
      call,
      client,
      credentials,
      keys: { get: () => Effect.succeed({}), invalidate: () => {} },
      tokens: {
        read: () => Effect.sync(() => stored),
        write: (_: string, tokens: Logins.Tokens) =>
          Effect.sync(() => {
            stored = tokens
            return true
          })
      },
      tokenLogins: process.tokenLogins,
      failedLogins: process.failedLogins
    } as unknown as Parameters<typeof Logins.make>[0])
    const organization = { id: organizationId, credential_updated_at: updatedAt, credential_state: "accepted" }
    // A call needs these members of the lane alone.
    const context = {
      call,
      credentials,
      lane,
      logins,
      organizations: new Map([[organizationId, organization]]),
      process,
      store: {
        write: () =>
          Effect.sync(() => {
            counts.stores += 1
            lane.windows.beginStore()()
          })
      }
    } as unknown as LaneContext

    const refused = new Set<string>()
    const used: Array<string> = []
    /** A send that is refused with the tokens of `refused`, after a while. */
    const send = (refuse: () => KsefError, afterMs = 0, onCall: () => void = () => {}) =>
      authorized(context, organizationId, "send", (accessToken) =>
        Effect.delay(
          Effect.suspend(() => {
            onCall()
            const name = Redacted.value(accessToken)
            used.push(name)
            return refused.has(name) ? Effect.fail(refuse()) : Effect.succeed(name)
          }),
          afterMs
        )
      )
    const startedAt = yield* Clock.currentTimeMillis
    /** Asserts that the lane rests for this long, from a time between the beginning of the test and now. */
    const assertRests = (waitMs: number) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const until = lane.windows.stored(startedAt).blocked["lane"]?.until ?? 0
        assert.isTrue(until >= startedAt + waitMs && until <= now + waitMs, `${until - startedAt} ms`)
      })
    const first = yield* send(() => failure("send", "unauthorized", ""))
    return { assertRests, context, counts, first, lane, refused, send, used }
  })

describe("an access token that KSeF does not accept any more", () => {
  it.live("is refreshed once, though several calls are refused while and after it is", () =>
    Effect.gen(function* () {
      const { counts, first, refused, send } = yield* setUp()
      refused.add(first)
      const names = yield* Effect.all(
        // A refresh takes 50 ms.
        [0, 0, 30, 100, 200].map((afterMs) => send(() => failure("send", "unauthorized", ""), afterMs)),
        { concurrency: 5 }
      )
      assert.lengthOf(new Set(names), 1)
      assert.notStrictEqual(names[0], first)
      assert.deepInclude(counts, { logins: 1, refreshes: 1 })
    })
  )

  it.live("is replaced by one new login if the refresh token is not accepted either", () =>
    Effect.gen(function* () {
      const { counts, first, refused, send } = yield* setUp({ isRefreshTokenDead: true })
      refused.add(first)
      yield* Effect.all(
        Array.from({ length: 5 }, () => send(() => failure("send", "unauthorized", ""))),
        { concurrency: 5 }
      )
      assert.deepInclude(counts, { logins: 2, refreshes: 1 })
    })
  )

  it.live("refuses the credential if new ones are not accepted either, unless sending does not need the call", () =>
    Effect.gen(function* () {
      const { context, counts, refused, send } = yield* setUp()
      for (const call of ["closeOnline", "invoice", "invoiceUpo", "invoiceUpoByKsefNumber"] as const) {
        const refuse = () => Effect.fail(failure(call, "unauthorized", ""))
        const error = yield* Effect.flip(authorized(context, organizationId, call, refuse))
        assert.strictEqual(error._tag === "CallFailed" ? error.failure._tag : error._tag, "unauthorized")
      }
      assert.deepInclude(counts, { logins: 1, refreshes: 4 })
      Object.assign(refused, { has: () => true })
      const error = yield* Effect.flip(send(() => failure("send", "unauthorized", "")))
      assert.strictEqual(error._tag, "CredentialRefused")
      assert.deepInclude(counts, { logins: 2, refreshes: 5 })
    })
  )
})

describe("a 403", () => {
  it.live("without a reason is followed by a new login, and does not pause the lane", () =>
    Effect.gen(function* () {
      const { counts, first, lane, refused, send, used } = yield* setUp()
      refused.add(first)
      yield* send(() => failure("send", "forbidden", ""))
      assert.deepInclude(counts, { logins: 2, refreshes: 0 })
      assert.lengthOf(used, 3)
      assert.strictEqual(lane.windows.laneBlocks, 0)
    })
  )

  it.live("without a reason, again after the new login, pauses the lane for 2 seconds", () =>
    Effect.gen(function* () {
      const { assertRests, counts, refused, send, used } = yield* setUp()
      Object.assign(refused, { has: () => true })
      const error = yield* Effect.flip(send(() => failure("send", "forbidden", "")))
      assert.strictEqual(error._tag === "CallFailed" ? error.failure._tag : "", "blocked")
      assert.strictEqual(counts.logins, 2)
      assert.lengthOf(used, 3)
      yield* assertRests(2000)
    })
  )

  it.live(
    "of a right refuses the credential, unless it is the right to read originals, which sending does not need",
    () =>
      Effect.gen(function* () {
        const { context, refused, send } = yield* setUp()
        const body = problem({ reasonCode: "missing-permissions" })
        const read = yield* Effect.flip(
          authorized(context, organizationId, "invoice", () => Effect.fail(failure("invoice", "forbidden", body)))
        )
        assert.strictEqual(read._tag === "CallFailed" ? read.failure._tag : read._tag, "refused")
        Object.assign(refused, { has: () => true })
        const sent = yield* Effect.flip(send(() => failure("send", "forbidden", body)))
        assert.strictEqual(sent._tag, "CredentialRefused")
      })
  )

  const security = "This request was blocked by our security service"
  for (const [name, body, waitMs] of [
    ["of a security service", problem({ reasonCode: "security-service-blocked" }), 15 * minute],
    ["of the firewall, which blocks", problem({ title: "Request blocked", detail: security }), 15 * minute],
    ["with a page that blocks", `<html><body>${security}</body></html>`, 15 * minute],
    ["of the firewall with an unknown text", problem({ title: "Request blocked" }), 2000],
    ["with an unknown page", "<html><body>Request blocked</body></html>", 2000]
  ] as const) {
    it.live(`${name} pauses the lane for ${waitMs / 1000} s without another login`, () =>
      Effect.gen(function* () {
        const { assertRests, counts, first, refused, send, used } = yield* setUp()
        refused.add(first)
        yield* Effect.flip(send(() => failure("send", "forbidden", body)))
        assert.strictEqual(counts.logins, 1)
        assert.lengthOf(used, 2)
        yield* assertRests(waitMs)
      })
    )
  }
})

describe("calls of a lane", () => {
  it.live("are stored before another call of their group, so that the next holder counts them", () =>
    Effect.gen(function* () {
      const { counts, send } = yield* setUp()
      assert.strictEqual(counts.stores, 0, "one call is expected of a holder that was lost")
      yield* send(() => failure("send", "unauthorized", ""))
      yield* send(() => failure("send", "unauthorized", ""))
      assert.strictEqual(counts.stores, 2)
    })
  )

  it.live("are at most one of a group that is not stored, also when the steps of a lane make them together", () =>
    Effect.gen(function* () {
      const { context, send } = yield* setUp()
      const { windows } = context.lane
      const begun = () =>
        (windows.stored(Date.now()).used["invoiceSend"] ?? []).reduce((sum, [, count]) => sum + count, 0)
      let stored = 0
      const unstored: Array<number> = []
      const write = Effect.suspend(() => {
        const begunBefore = begun()
        const markStored = windows.beginStore()
        // Long enough for other calls to come while it runs.
        return Effect.delay(
          Effect.sync(() => {
            stored = begunBefore
            markStored()
          }),
          20
        )
      })
      Object.assign(context.store, { write: () => write })
      const call = send(
        () => {
          throw new Error("Expected no refusal")
        },
        0,
        () => unstored.push(begun() - stored)
      )
      yield* Effect.all([call, call, call], { concurrency: 3 })
      assert.deepStrictEqual(unstored, [1, 1, 1])
    })
  )
})
