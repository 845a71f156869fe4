/** An honest organization beside hundreds of new ones whose receivers hang. */
import { assert, layer } from "@effect/vitest"
import type { DispatchRequest } from "@govoice/dispatcher"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { casesOf } from "../../../../test/support/length.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import { count, eventually, pass, start } from "./support/deliveryWorker.ts"

const timeoutMs = 10_000
const eventsOfAnInvoice = 4
const workerConcurrency = 134

layer(layerPostgres, { timeout: "20 minutes" })("hanging organizations", (it) => {
  for (const hanging of casesOf([200, 1000], (count) => count === 200)) {
    it.effect(`${hanging} of them, four invoices a second in all, do not delay an honest one`, () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const make = Effect.fnUntraced(function* (url: string) {
          const id = yield* fixtures.organization
          return { id, endpoint: yield* fixtures.endpoint(id, { url }) }
        })
        const crowd = yield* Effect.forEach(Array.from({ length: hanging }), (_, n) =>
          make(`https://hang.example.com/${n}`)
        )
        const honest = yield* make("https://honest.example.com/")
        const slowish = yield* make("https://five-seconds.example.com/")
        yield* sql`UPDATE webhook_endpoints SET pace = 'new'`

        const recovered = new Set<string>()
        const answer = ({ url }: DispatchRequest) =>
          Effect.gen(function* () {
            if (url.includes("five-seconds")) return yield* Effect.as(Effect.sleep(5000), Fake.delivered)
            if (url.includes("hang") && !recovered.has(url)) {
              return yield* Effect.as(Effect.sleep(timeoutMs), Fake.failed("timeout"))
            }
            return Fake.delivered
          })
        const worker = yield* start(answer, { workerConcurrency, leaseMs: 40_000 })

        let submitted = 0
        const submitTo = Effect.fnUntraced(function* ({ endpoint, id }: (typeof crowd)[number], events: number) {
          yield* fixtures.deliveries(id, endpoint, events)
          yield* worker.wake
        })
        const rush = Effect.fnUntraced(function* (seconds: number) {
          for (let n = 0; n < seconds * 4; n++) {
            yield* submitTo(crowd[submitted++ % hanging]!, eventsOfAnInvoice)
            yield* pass(250)
          }
        })
        const submitHonest = Effect.gen(function* () {
          yield* fixtures.deliveries(honest.id, honest.endpoint, 1)
          yield* worker.wake
          yield* pass(250)
        })
        yield* rush(30)

        // The honest one gets forty events within ten seconds, and the rush goes on.
        for (let n = 0; n < 40; n++) {
          yield* submitTo(crowd[submitted++ % hanging]!, eventsOfAnInvoice)
          yield* submitHonest
        }
        yield* eventually(
          "the honest organization has all its events",
          250,
          Effect.map(count(`organization_id = '${honest.id}' AND status = 'succeeded'`), (n) => n === 40)
        )
        assert.isAbove(yield* count("status = 'retrying' AND last_error_summary = 'The request timed out.'"), 0)

        // A receiver that takes five seconds has as many in flight as its organization may.
        yield* submitTo(slowish, 1)
        yield* pass(6000)
        yield* submitTo(slowish, 30)
        yield* eventually(
          "the slots of the organization are taken",
          4000,
          Effect.map(count(`organization_id = '${slowish.id}' AND status = 'delivering'`), (n) => n === 10)
        )

        // One that recovers is found again in its turn, and has all its slots then.
        const back = crowd[0]!
        recovered.add("https://hang.example.com/0")
        yield* submitTo(back, 20)
        const isBack = Effect.map(count(`organization_id = '${back.id}' AND status = 'succeeded'`), (n) => n >= 20)
        for (let seconds = 0; !(yield* isBack); seconds++) {
          assert.isBelow(seconds, 60, "the receiver that has recovered has its backlog within a minute")
          yield* pass(1000)
        }
        yield* worker.stop
      })
    )
  }
})
