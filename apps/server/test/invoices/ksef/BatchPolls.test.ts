import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as BatchSessions from "../../../src/invoices/ksef/BatchSessions.ts"
import { CallFailed } from "../../../src/invoices/ksef/CallFailure.ts"
import { makeProcess } from "../../../src/invoices/ksef/LaneProcess.ts"
import type { LaneContext } from "../../../src/invoices/ksef/LaneContext.ts"
import { RateLimitWindows } from "../../../src/invoices/ksef/RateLimitWindows.ts"
import type { Changes } from "../../../src/invoices/ksef/laneRows.ts"

const organizationId = "org_1" as Ids.OrganizationId
const unavailable = new CallFailed({
  call: "sessionStatus",
  until: 0,
  failure: { _tag: "unavailable", wasSent: true, message: "503" }
})

describe("a batch whose status cannot be read", () => {
  it.effect("is polled too seldom to open the circuit breaker of all taxpayers alone", () =>
    Effect.gen(function* () {
      const session = {
        id: "1",
        organization_id: organizationId,
        kind: "batch",
        state: "closed",
        reference: "session",
        created_at: new Date(0),
        due_at: new Date(0),
        check_count: 0,
        unreadable_since: null
      }
      const polledAt: Array<number> = []
      // The cast: polls need these members of the lane alone.
      const context = {
        hasUnfinishedSessions: true,
        lane: { context: "5265877635", windows: new RateLimitWindows({}, { used: {}, blocked: {} }) },
        process: makeProcess(32),
        store: {
          unfinishedSessions: () => Effect.succeed([session]),
          write: (_: unknown, { sessions = [] }: Changes) =>
            Effect.sync(() => {
              const [change] = sessions
              session.check_count = change!.checkCount!
              session.due_at = change!.dueAt!
            })
        },
        system: { client: { sessionStatus: () => Effect.fail(unavailable) } },
        call: (_: unknown, effect: Effect.Effect<unknown>) => effect,
        logins: { accessToken: () => Effect.succeed(Redacted.make("token")) },
        organizations: new Map([[organizationId, { id: organizationId }]]),
        wake: () => {}
      } as unknown as LaneContext
      for (let index = 0; index < 10; index++) {
        yield* TestClock.setTime(session.due_at.getTime())
        polledAt.push(session.due_at.getTime())
        yield* BatchSessions.poll(context)
      }
      // The breaker opens by ten failures within a minute.
      assert.isAbove(polledAt.at(-1)! - polledAt[0]!, 60_000)
    })
  )
})
