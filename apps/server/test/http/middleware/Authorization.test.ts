import { AccountAuthorization } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Authenticator } from "../../../src/accounts/Authenticator.ts"
import { Directory } from "../../../src/cells/Directory.ts"
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

type AccessToken = AccountAuthorization.AccountAuthorization["Service"]["accessToken"]

const serve = (
  accessToken: AccessToken,
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse>,
  method: string,
  account: string
) =>
  accessToken(handler, {
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
        return serve(accessToken, handler, method, account)
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

  it.effect(
    "waits for few rows of the control cell at a time for an account, and takes no turn of reads for them",
    () =>
      Effect.gen(function* () {
        let waiting = 0
        const directory = {
          otherCellOf: () => undefined,
          awaitSession: () => Effect.void,
          awaitOrganization: () =>
            Effect.andThen(
              Effect.sync(() => waiting++),
              Effect.never
            )
        }
        const program = Effect.gen(function* () {
          const { accessToken } = yield* AccountAuthorization.AccountAuthorization
          const handler = Effect.succeed(HttpServerResponse.empty())
          for (let time = 0; time < 2 * maxReads; time++) yield* serve(accessToken, handler, "GET", "acct_1")
          yield* Effect.yieldNow
          assert.strictEqual(waiting, concurrency)
          for (let account = 2; account <= maxReads; account++) {
            for (let time = 0; time < concurrency; time++) yield* serve(accessToken, handler, "GET", `acct_${account}`)
          }
          yield* Effect.yieldNow
          assert.strictEqual(waiting, concurrency * maxReads)
        })
        yield* Effect.provide(program, authorization.pipe(Layer.provide(Layer.succeed(Directory)(directory))))
      })
  )
})
