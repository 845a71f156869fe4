/** Migrates the database, or tells whether it is current. */
import { Console, Effect } from "effect"
import * as Migrations from "../../database/Migrations.ts"
import * as deployment from "../deployment.ts"
import type { EnvironmentVariables } from "../../settings/EnvironmentVariables.ts"
import { CommandFailure } from "../CommandFailure.ts"

const outdated = new CommandFailure({ message: "The schema is not current. Run 'govoice migrate'." })

/** Migrates the database. With `check`, changes nothing and fails when the schema is not current. */
export const migrate = Effect.fnUntraced(function* (env: EnvironmentVariables, { check }: { readonly check: boolean }) {
  const settings = yield* deployment.settings(env)
  const run = Effect.gen(function* () {
    if (yield* Migrations.isCurrent) return yield* Console.log("The schema is current.")
    if (check) return yield* outdated
    yield* Migrations.run
    yield* Console.log("The schema was migrated.")
  })
  yield* deployment.onDatabase(settings, run)
})
