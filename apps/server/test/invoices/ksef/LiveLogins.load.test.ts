/** The state of a credential after each status of a login, in simulated time. */
import { assert, layer } from "@effect/vitest"
import { LoginStatuses } from "@govoice/ksef/protocol"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const minute = 60_000

/** How much of simulated time is left to work, which takes real time. The waits that are told apart differ by as much. */
const realMs = 25_000

/** How often a login is begun before its credential is refused, and for how long at least. */
const tries: Partial<Record<LoginStatuses.LoginAction, { readonly logins: number; readonly forMs: number }>> = {
  refuse: { logins: 1, forMs: 0 },
  "log-in-again": { logins: 2, forMs: 0 },
  "refresh-keys": { logins: 2, forMs: 0 },
  "refuse-after-waiting": { logins: 4, forMs: 3 * minute }
}

const states = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly state: string; readonly code: string | null }>`
    SELECT credential_state AS state, credential_refusal->>'code' AS code FROM organizations
  `
)

const untilState = (wanted: string) =>
  Effect.map(
    live.poll(states, ([row]) => row?.state === wanted),
    ([row]) => row!
  )

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })("a login", (it) => {
  for (const { action, code, detail, meaning, refusal } of LoginStatuses.loginStatuses) {
    const expected = tries[action]
    if (refusal === undefined || expected === undefined) continue
    it.effect(`that ends with ${code} (${meaning}) has the credential refused as ${refusal}`, () =>
      simulated.simulate({ grainMs: 100 }, ({ ksef, now }) =>
        Effect.gen(function* () {
          const details = detail === undefined ? [] : [detail]
          ksef.faults.add({ do: "verdict", on: "login", code, details, times: "always" })
          const count = (operation: string) => ksef.ledger.calls().filter((call) => call.operation === operation).length
          const program = Effect.gen(function* () {
            const startedAt = now()
            const organizationId = yield* live.taxpayer(ksef)
            assert.strictEqual((yield* untilState("refused")).code, refusal)
            assert.strictEqual(count("loginWithToken"), expected.logins)
            assert.isAtLeast(now() - startedAt, expected.forMs)

            ksef.faults.clear()
            const storedAt = now()
            yield* live.putCredential(organizationId, ksef.nip, live.token(ksef.token))
            assert.isNull((yield* untilState("accepted")).code)
            assert.isBelow(now() - storedAt, realMs)
          })
          yield* live.withDeployment(ksef, program)
        })
      )
    )
  }

  it.effect("that KSeF cannot process is tried again after 5, 30 and 120 seconds", () =>
    simulated.simulate({ grainMs: 100 }, ({ ksef }) =>
      Effect.gen(function* () {
        ksef.faults.add({ do: "verdict", on: "login", code: 550, times: 4 })
        yield* live.withDeployment(ksef, Effect.andThen(live.taxpayer(ksef), untilState("accepted")))
        const logins = ksef.ledger.calls().filter(({ operation }) => operation === "loginWithToken")
        const waits = logins.slice(1).map(({ startedAt }, index) => (startedAt - logins[index]!.startedAt) / 1000)
        assert.lengthOf(waits, 4)
        for (const [index, wanted] of [5, 30, 120, 120].entries()) {
          assert.isAtLeast(waits[index]!, wanted)
          assert.isBelow(waits[index]!, wanted + realMs / 1000)
        }
      })
    )
  )
})
