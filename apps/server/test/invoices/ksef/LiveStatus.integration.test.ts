/** The live status that an owner reads, with the simulator. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { GatewayCredentials } from "../../../src/invoices/ksef/GatewayCredentials.ts"
import * as LiveStatus from "../../../src/invoices/ksef/LiveStatus.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const available = Layer.mock(GatewayCredentials)({ isLiveModeAvailable: () => Effect.succeed(true) })

const inEnvironment = (environmentId: string) =>
  Layer.provide(LiveStatus.layer, [
    available,
    TestSettings.layer({ liveMode: true, ksef: { ...TestSettings.settings().ksef, environmentId } })
  ])

const read = (environmentId: string, id: Ids.OrganizationId) =>
  Effect.flatMap(LiveStatus.LiveStatus, (status) => status.read(id)).pipe(Effect.provide(inEnvironment(environmentId)))

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })("live status", (it) => {
  it.effect("has the undecided invoices and the used limits for the owner of an accepted credential only", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.clear
      const ksef = yield* live.simulator({ faults: [{ do: "stuck-150", polls: 10_000 }] })
      yield* live.withDeployment(
        ksef,
        Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          const fresh = yield* read(ksef.url, organizationId)
          assert.deepInclude(fresh, {
            object: "live_status",
            available: true,
            live_mode: true,
            environment: ksef.url,
            waiting: { count: 0, oldest_at: null, failure: null },
            undecided: { count: 0, oldest_at: null, failure: null }
          })
          yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
          const undecided = yield* live.poll(read(ksef.url, organizationId), (status) => status.undecided.count === 1)
          assert.isNotNull(undecided.undecided.oldest_at)
          const sends = yield* live.poll(read(ksef.url, organizationId), ({ limits }) =>
            limits.some(({ group, used }) => group === "invoiceSend" && used === 1)
          )
          assert.isAbove(sends.limits.find(({ group }) => group === "invoiceSend")?.per_hour ?? 0, 1)

          // Another organization with the same taxpayer, which the national system has not confirmed.
          const other = yield* fixtures.organization
          yield* sql`
            UPDATE organizations
            SET credential = '\\x010000', credential_kind = 'ksef_token', credential_context = ${ksef.nip},
                credential_environment = ${ksef.url}, credential_state = 'unchecked', credential_updated_at = now()
            WHERE id = ${other}
          `
          const hidden = yield* read(ksef.url, other)
          assert.deepStrictEqual(hidden.limits, [])
          assert.strictEqual(hidden.undecided.count, 0)
        })
      )
    })
  )

  it.effect("counts invoices that were not sent", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.clear
      const organizationId = yield* fixtures.organization
      const id = yield* fixtures.invoice(organizationId)
      yield* sql`
        UPDATE invoices
        SET mode = 'live', scenario = NULL, status = 'queued', official_number = NULL, completed_at = NULL, due_at = now()
        WHERE id = ${id}
      `
      const { waiting } = yield* read("test", organizationId)
      assert.strictEqual(waiting.count, 1)
      assert.match(waiting.oldest_at ?? "", /Z$/)
      assert.isNull(waiting.failure)
      const failure = { code: "gateway_blocked", message: "KSeF blocks the requests of this taxpayer." }
      yield* sql`UPDATE invoices SET failure = ${JSON.stringify(failure)}::text::jsonb WHERE id = ${id}`
      assert.deepStrictEqual((yield* read("test", organizationId)).waiting.failure, failure)
    })
  )
})
