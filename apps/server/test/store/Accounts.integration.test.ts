import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Accounts from "../../src/store/Accounts.ts"
import { databases } from "../support/TestDatabase.ts"

for (const database of databases) {
  layer(Layer.provide(Accounts.layer, database.layer), { timeout: "60 seconds" })(
    `Accounts (${database.name})`,
    (it) => {
      it.effect("finds what it created, whatever the letter case of the email", () =>
        Effect.gen(function* () {
          const accounts = yield* Accounts.Accounts
          const created = yield* accounts.create("Owner@Example.com", "hash")
          assert.strictEqual(created.email, "owner@example.com")
          assert.deepStrictEqual(yield* accounts.find(created.id), created)
          assert.deepStrictEqual(yield* accounts.findCredentials("OWNER@example.COM"), {
            id: created.id,
            passwordHash: "hash"
          })
        })
      )

      it.effect("gives an email to one account only", () =>
        Effect.gen(function* () {
          const accounts = yield* Accounts.Accounts
          yield* accounts.create("twice@example.com", "hash")
          const error = yield* Effect.flip(accounts.create("TWICE@example.com", "other"))
          assert.strictEqual(error._tag, "EmailTaken")
        })
      )
    }
  )
}
