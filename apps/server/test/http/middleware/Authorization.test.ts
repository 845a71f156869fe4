import { AccountAuthorization } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Authenticator } from "../../../src/accounts/Authenticator.ts"
import {
  accountConcurrency as concurrency,
  layerAccount,
  maxReads
} from "../../../src/http/middleware/Authorization.ts"
import { RateLimits } from "../../../src/http/middleware/RateLimits.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const accounts = 20
const route = HttpRouter.route("GET", "/v1/control-plane/organizations", HttpServerResponse.empty())

// The token of a request is the id of its account.
const authorization = layerAccount.pipe(
  Layer.provide([
    Layer.mock(Authenticator)({
      authenticateAccessToken: (accountId) =>
        Effect.succeed({ accountId: accountId as Ids.AccountId, sessionId: accountId })
    }),
    Layer.mock(RateLimits)({ takeForAccount: () => Effect.void }),
    TestSettings.layer()
  ])
)

describe("layerAccount", () => {
  it.effect("serves few reads of many accounts at a time, each in turn, and writes beside them", () =>
    Effect.gen(function* () {
      const { accessToken } = yield* AccountAuthorization.AccountAuthorization
      const running: Array<string> = []
      const served: Array<string> = []
      const open = yield* Deferred.make<void>()

      const send = (method: string, account: string) => {
        const handler = Effect.gen(function* () {
          running.push(`${method} ${account}`)
          served.push(`${method} ${account}`)
          yield* Deferred.await(open)
          return HttpServerResponse.empty()
        }).pipe(Effect.ensuring(Effect.sync(() => void running.pop())))
        return accessToken(handler, {
          credential: Redacted.make(account),
          endpoint: undefined as never,
          group: undefined as never
        }).pipe(
          Effect.provideService(
            HttpServerRequest.HttpServerRequest,
            HttpServerRequest.fromWeb(new Request("http://localhost/v1/control-plane/organizations", { method }))
          ),
          Effect.provideService(HttpServerRequest.ParsedSearchParams, {}),
          Effect.provideService(HttpRouter.RouteContext, { params: {}, route }),
          Effect.forkChild({ startImmediately: true })
        )
      }

      const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let account = 0; account < accounts; account++) {
        for (let time = 0; time < concurrency; time++)
          fibers.push(yield* send(time === 0 ? "GET" : "HEAD", `acct_${account}`))
      }
      yield* Effect.yieldNow
      assert.lengthOf(running, maxReads)
      fibers.push(yield* send("PATCH", "acct_of_somebody"))
      yield* Effect.yieldNow
      assert.strictEqual(running.at(-1), "PATCH acct_of_somebody")

      yield* Deferred.succeed(open, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.lengthOf(served, accounts * concurrency + 1)
    }).pipe(Effect.provide(authorization))
  )
})
