import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Accounts from "../../src/accounts/Accounts.ts"
import * as Email from "../../src/accounts/Email.ts"
import * as Organizations from "../../src/accounts/Organizations.ts"
import { database } from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"

const tested = Layer.mergeAll(Accounts.layer, Organizations.layer).pipe(
  Layer.provide([database.layer, TestSettings.layer()])
)

layer(tested, { timeout: "120 seconds" })(`Organizations (${database.name})`, (it) => {
  it.effect("an account has at most 100, also when more are created at once", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts.Accounts
      const organizations = yield* Organizations.Organizations
      const owner = yield* accounts.create(Email.normalize("owner@example.com"), "hash")
      const other = yield* accounts.create(Email.normalize("other@example.com"), "hash")

      const create = Effect.result(organizations.create(owner.id, "Company"))
      const results = yield* Effect.replicateEffect(create, 110, { concurrency: "unbounded" })
      const failures = results.flatMap((result) => (result._tag === "Failure" ? [result.failure._tag] : []))
      assert.deepStrictEqual(failures, Array<string>(10).fill("TooManyOrganizations"))
      const { hasMore, records } = yield* organizations.list(owner.id, { limit: 100, after: undefined })
      assert.lengthOf(records, 100)
      assert.isFalse(hasMore)

      yield* organizations.create(other.id, "Company")
    })
  )
})
