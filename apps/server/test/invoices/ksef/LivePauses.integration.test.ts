/** How long the answers of KSeF have a taxpayer wait, in simulated time. */
import { assert, layer } from "@effect/vitest"
import type { Fault, Simulator } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Invoices } from "../../../src/invoices/Invoices.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { assertExactlyOnce } from "../../support/liveFaults.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres, layerPostgresLive } from "../../support/TestDatabase.ts"

const second = 1000

const proxyTimeout = "The proxy failed to connect to the web server, due to TCP connection timeout"

/** Submits two invoices while these faults last. Both are accepted. */
const program = (ksef: Simulator) =>
  Effect.gen(function* () {
    const organizationId = yield* live.taxpayer(ksef)
    yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 2)
    const all = yield* live.finished()
    assertExactlyOnce(ksef, all)
    assert.isTrue(all.every(({ status }) => status === "accepted"))
  })

/** Has them accepted within the time that tests wait for a state, which is shorter than any long pause. */
const assertNoPause = (faults: ReadonlyArray<Fault>) =>
  Effect.gen(function* () {
    yield* fixtures.clear
    const ksef = yield* live.simulator({ faults })
    yield* live.withDeployment(ksef, program(ksef))
  })

const callsOf = (ksef: Simulator, operation: string) =>
  ksef.ledger.calls().filter((call) => call.operation === operation)

layer(layerPostgresLive, { timeout: "120 seconds", excludeTestServices: true })("answers of KSeF", (it) => {
  for (const [name, fault] of [
    ["a 403 of a firewall that does not reach KSeF", { do: "block-403", detail: proxyTimeout, on: "sendInvoice" }],
    ["a 403 with an unknown page", { do: "html", status: 403, on: "sendInvoice" }],
    ["maintenance once", { do: "21184" }]
  ] as const) {
    it.effect(`have a taxpayer wait for no more than seconds: ${name}`, () => assertNoPause([fault]))
  }

  it.effect("have a taxpayer wait for no more than seconds: other sessions for other reasons than maintenance", () =>
    assertNoPause([
      { do: "exception", code: 21180, on: "sendInvoice" },
      { do: "415-after-rotation", on: "openOnlineSession", nth: 2 }
    ])
  )

  it.effect("that name maintenance twice in a row have a taxpayer wait for five minutes", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const ksef = yield* live.simulator({ faults: [{ do: "21184", times: 2 }] })
      yield* live.withDeployment(
        ksef,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const organizationId = yield* live.taxpayer(ksef)
          yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 1)
          const waits = sql<{ readonly seconds: number }>`
            SELECT extract(epoch FROM next_attempt_at - updated_at)::float8 AS seconds FROM invoices
            WHERE status = 'retrying'
          `
          yield* live.poll(waits, ([row]) => row !== undefined && row.seconds > 290)
          // Kept with the lane, for the next holder.
          const paused = sql<{ readonly until: Date | null }>`
            SELECT to_timestamp((blocked->'sending'->>'until')::float8 / 1000) AS until FROM national_lanes
          `
          const [attempt] = yield* sql<{ readonly at: Date }>`SELECT next_attempt_at AS at FROM invoices`
          assert.deepStrictEqual((yield* paused)[0]?.until, attempt!.at)
        })
      )
    })
  )

  it.effect("have no invoice show a next attempt in the past", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const sql = yield* SqlClient.SqlClient
      const ksef = yield* live.simulator()
      yield* live.withDeployment(
        ksef,
        Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          const id = yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "key-1")
          const find = Effect.flatMap(Invoices, (invoices) => invoices.find({ organizationId, mode: "live" }, id))
          const inState = (offset: string) => sql`
            UPDATE invoices SET status = 'retrying', next_attempt_at = now() + ${offset}::interval WHERE id = ${id}
          `
          yield* inState("-1 second")
          assert.isNull((yield* find).next_attempt_at)
          yield* inState("1 hour")
          assert.isNotNull((yield* find).next_attempt_at)
          // The taxpayer pauses for longer.
          for (const group of ["lane", "sending"]) {
            const until = Date.now() + 7_200_000
            yield* sql`UPDATE national_lanes SET blocked = ${JSON.stringify({ [group]: { until } })}::text::jsonb`
            for (const offset of ["-1 second", "1 hour"]) {
              yield* inState(offset)
              assert.strictEqual((yield* find).next_attempt_at, new Date(until).toISOString())
            }
          }
        }),
        { hasWorker: false }
      )
    })
  )
})

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })("answers of KSeF", (it) => {
  it.effect("to a close that say nothing of the session have it closed again until one does", () =>
    simulated.simulate({ grainMs: 1000, faults: [{ do: "5xx", on: "closeOnlineSession", times: 2 }] }, ({ ksef }) =>
      live.withDeployment(
        ksef,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const organizationId = yield* live.taxpayer(ksef)
          yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 1)
          yield* live.finished()
          const open = sql`SELECT 1 FROM national_sessions WHERE state NOT IN ('done', 'abandoned')`
          yield* live.poll(open, ({ length }) => length === 0)
          const statuses = callsOf(ksef, "closeOnlineSession").map(({ status }) => status)
          assert.deepStrictEqual(statuses, [503, 503, 204])
        }),
        { rescueMs: 10 * second }
      )
    )
  )

  for (const fault of [
    { do: "429", on: "openBatchSession", retryAfter: 3600 },
    { do: "5xx", on: "openBatchSession", retryAfter: 3600 }
  ] as const) {
    it.effect(`that have batches wait have no document wait that can go alone: ${fault.do}`, () =>
      simulated.simulate({ grainMs: 1000 }, ({ ksef, now }) =>
        Effect.gen(function* () {
          const documents = 45
          const submitted = Effect.flatMap(live.taxpayer(ksef), (id) =>
            simulated.submitNumbers(id, ksef.nip, 1, documents)
          )
          yield* live.withDeployment(ksef, submitted, { hasWorker: false })
          ksef.faults.add(fault)
          const startedAt = now()
          const all = yield* live.withDeployment(ksef, live.finished(), { rescueMs: 10 * second })
          assert.isBelow(now() - startedAt, 600 * second)
          assert.lengthOf(callsOf(ksef, "openBatchSession"), 1)
          assertExactlyOnce(ksef, all)
          assert.lengthOf(ksef.ledger.accepted(), documents)
        })
      )
    )
  }

  for (const [fault, operations] of [
    [{ do: "5xx", on: "downloadUpo", retryAfter: 30 }, ["downloadUpo", "getInvoiceUpo", "getInvoiceUpoByNumber"]],
    [{ do: "5xx", on: "getInvoice", retryAfter: 30 }, ["getInvoice"]],
    [{ do: "5xx", on: "sendInvoice", retryAfter: 30 }, ["sendInvoice"]]
  ] as const) {
    it.effect(`with Retry-After are followed by no such call within it: ${fault.on}`, () =>
      simulated.simulate({ grainMs: 1000, faults: [fault] }, ({ ksef }) =>
        live.withDeployment(
          ksef,
          Effect.gen(function* () {
            const organizationId = yield* live.taxpayer(ksef)
            yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 1)
            yield* live.finished()
            const calls = ksef.ledger.calls().filter(({ operation }) => operations.some((one) => one === operation))
            const refused = calls.findIndex((call) => call.fault === "5xx")
            assert.isAtLeast(refused, 0)
            const next = calls[refused + 1]
            assert.isDefined(next)
            assert.isAtLeast(next.startedAt - calls[refused]!.startedAt, 30 * second)
          }),
          { rescueMs: 10 * second }
        )
      )
    )
  }
})
