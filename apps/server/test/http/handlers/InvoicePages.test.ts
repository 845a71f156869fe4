/** Pages of invoices that need the settled time. */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { HttpServerRequest } from "effect/http"
import * as InvoicePages from "../../../src/http/handlers/InvoicePages.ts"
import { SettledTimeNeeded } from "../../../src/invoices/Invoices.ts"

const owner = (number: number) => ({ accountId: `acct_${number}`, organizationId: `org_${number}` }) as const

it.effect("pages wait for the settled time without a turn, and are read again with it", () =>
  Effect.gen(function* () {
    const settled = yield* Deferred.make<number>()
    const page = (time?: number) =>
      time === undefined ? Effect.fail(new SettledTimeNeeded()) : Effect.succeed({ time })
    const following = yield* Effect.forEach([1, 2, 3, 4], (number) =>
      Effect.forkChild(InvoicePages.answer(owner(number), Deferred.await(settled), page), {
        startImmediately: true
      })
    )
    const other = yield* InvoicePages.answer(owner(5), Effect.never, () => Effect.succeed({ time: 0 }))
    assert.strictEqual(other.status, 200)
    yield* Deferred.succeed(settled, 7)
    const answers = yield* Effect.forEach(following, Fiber.join)
    for (const { body } of answers) {
      assert.strictEqual(body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : body._tag, '{"time":7}')
    }
  }).pipe(
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/v1/invoices"))
    )
  )
)
