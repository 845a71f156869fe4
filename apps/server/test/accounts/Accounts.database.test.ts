import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Accounts from "../../src/accounts/Accounts.ts"
import * as Email from "../../src/accounts/Email.ts"
import { database } from "../support/TestDatabase.ts"

layer(Layer.provide(Accounts.layer, database.layer), { timeout: "120 seconds" })(
  `Accounts (${database.name})`,
  (it) => {
    it.effect("finds an account by its email in any letter case", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts.Accounts
        const created = yield* accounts.create(Email.normalize("Owner@Example.com"), "hash")
        assert.strictEqual(created.email, "owner@example.com")
        assert.deepStrictEqual(yield* accounts.find(created.id), created)
        assert.deepStrictEqual(yield* accounts.findCredentials(Email.normalize("OWNER@example.COM")), {
          id: created.id,
          passwordHash: "hash"
        })
      })
    )

    it.effect("rejects a second account with the same email", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts.Accounts
        yield* accounts.create(Email.normalize("twice@example.com"), "hash")
        const error = yield* Effect.flip(accounts.create(Email.normalize("TWICE@example.com"), "other"))
        assert.strictEqual(error._tag, "EmailTaken")
      })
    )
  }
)
