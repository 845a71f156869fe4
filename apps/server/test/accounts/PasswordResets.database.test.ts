import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Accounts from "../../src/accounts/Accounts.ts"
import * as Email from "../../src/accounts/Email.ts"
import * as PasswordResets from "../../src/accounts/PasswordResets.ts"
import * as Sessions from "../../src/accounts/Sessions.ts"
import * as OpaqueToken from "../../src/crypto/OpaqueToken.ts"
import { database } from "../support/TestDatabase.ts"

const stores = Layer.mergeAll(Accounts.layer, PasswordResets.layer).pipe(Layer.provide(Sessions.layer))

layer(Layer.provideMerge(stores, database.layer), { timeout: "120 seconds" })(
  `PasswordResets (${database.name})`,
  (it) => {
    it.effect("is due again after 1, 2, 4, 8 and 16 minutes, and then no more", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const resets = yield* PasswordResets.PasswordResets
        const email = Email.normalize("owner@example.com")
        yield* (yield* Accounts.Accounts).create(email, "hash")
        yield* resets.request(email, "en")

        const take = resets.take(OpaqueToken.hash(OpaqueToken.refreshToken()))
        const dueAt: Array<number> = []
        while ((yield* take) !== undefined && dueAt.length < 100) {
          const [row] = yield* sql<{ readonly minutes: number }>`
            SELECT round(extract(epoch FROM reset_due_at - (reset_expires_at - interval '30 minutes')) / 60)::int AS minutes
            FROM accounts WHERE email = ${email}
          `
          dueAt.push(row!.minutes)
          // Time passes until it is due.
          yield* sql`
            UPDATE accounts SET reset_expires_at = reset_expires_at - (reset_due_at - clock_timestamp()),
              reset_due_at = clock_timestamp()
            WHERE email = ${email}
          `
        }
        assert.deepStrictEqual(dueAt, [1, 2, 4, 8, 16, 32])
      })
    )
  }
)
