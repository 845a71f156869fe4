import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { checkProxies } from "../../src/commands/doctor.ts"
import * as ClientAddress from "../../src/http/transport/ClientAddress.ts"
import { database } from "../support/TestDatabase.ts"

const day = 86_400_000

const account = (index: number) => `acct_${String(index).padStart(26, "0")}`

const insertAccounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const index of [1, 2]) {
    yield* sql`
      INSERT INTO accounts (id, created_at, email, password_hash)
      VALUES (${account(index)}, ${new Date()}, ${`${index}@example.com`}, 'x') ON CONFLICT DO NOTHING
    `
  }
})

const examine = Effect.fnUntraced(function* (
  logins: ReadonlyArray<readonly [account: number, address: string, ageMs?: number]>,
  trustedProxies: ReadonlyArray<string> = [],
  metricsPort?: number
) {
  const sql = yield* SqlClient.SqlClient
  yield* insertAccounts
  yield* sql`DELETE FROM sessions`
  for (const [index, address, ageMs = 0] of logins) {
    yield* sql`
      INSERT INTO sessions (id, account_id, created_at, network)
      VALUES (${randomUUID()}, ${account(index)}, ${new Date(Date.now() - ageMs)}, ${ClientAddress.group(address)})
    `
  }
  return yield* checkProxies({ metricsPort, trustedProxies })
})

layer(database.layer, { timeout: "120 seconds" })(`the doctor on proxies (${database.name})`, (it) => {
  it.effect("warns when all accounts log in from one internal address", () =>
    Effect.gen(function* () {
      for (const address of ["10.0.0.7", "::ffff:192.168.1.1", "127.0.0.1", "100.64.1.1", "fd12:3456::7", "::1"]) {
        const { level, message, remedy } = yield* examine([
          [1, address],
          [2, address],
          [2, address]
        ])
        assert.strictEqual(level, "warning", address)
        assert.include(message, ClientAddress.group(address))
        assert.include(message, "2 accounts")
        assert.include(remedy, "GOVOICE_TRUSTED_PROXIES")
      }
    })
  )

  it.effect("does not warn of logins from several addresses, from a public one, or of one account", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<Parameters<typeof examine>> = [
        [[]],
        [
          [
            [1, "10.0.0.7"],
            [2, "10.0.0.8"]
          ]
        ],
        [
          [
            [1, "203.0.113.1"],
            [2, "93.184.216.34"]
          ]
        ],
        [
          [
            [1, "93.184.216.34"],
            [2, "93.184.216.34"]
          ]
        ],
        [
          [
            [1, "10.0.0.7"],
            [1, "10.0.0.7"]
          ]
        ],
        [
          [
            [1, "10.0.0.7"],
            [2, "10.0.0.7", 8 * day]
          ]
        ],
        [
          [
            [1, "10.0.0.7"],
            [2, "10.0.0.7"]
          ],
          ["10.0.0.0/8"]
        ]
      ]
      for (const [logins, trustedProxies] of cases) {
        assert.strictEqual((yield* examine(logins, trustedProxies)).level, "ok", JSON.stringify(logins))
      }
    })
  )

  it.effect("says what it does not know without the metrics of the server", () =>
    Effect.gen(function* () {
      assert.include((yield* examine([])).message, "GOVOICE_METRICS_PORT")
      assert.notInclude((yield* examine([], [], 9464)).message, "GOVOICE_METRICS_PORT")
    })
  )

  it.effect("warns about trusted networks that contain clients", () =>
    Effect.gen(function* () {
      const finding = yield* examine([], ["10.0.0.0/8", "0.0.0.0/0"])
      assert.strictEqual(finding.level, "warning")
      assert.include(JSON.stringify(finding), "GOVOICE_TRUSTED_PROXIES contains 0.0.0.0/0")
    })
  )
})
