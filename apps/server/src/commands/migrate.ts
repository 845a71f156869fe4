/** `govoice migrate`: migrates the database before the processes that need it start, or tells whether it is current. */
import { Console, Effect } from "effect"
import * as Database from "../database/Database.ts"
import * as Migrations from "../database/Migrations.ts"
import * as deployment from "./deployment.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import * as Partitions from "../database/Partitions.ts"
import { CommandFailure } from "./CommandFailure.ts"

const outdated = new CommandFailure({ message: "The schema is not current. Run 'govoice migrate'." })

/** Migrates the database. With `check`, changes nothing and fails when the schema is not current. */
export const migrate = Effect.fnUntraced(function* (env: EnvironmentVariables, { check }: { readonly check: boolean }) {
  const settings = yield* deployment.settings(env)
  const run = Effect.gen(function* () {
    const { conflict, isCurrent } = yield* Migrations.status
    if (conflict !== undefined) return yield* new CommandFailure({ message: conflict })
    if (check && !(isCurrent && (yield* Partitions.problem(1)) === undefined)) return yield* outdated
    if (!check) {
      yield* Database.migrate(settings.database)
      yield* Partitions.make(Partitions.weeksAhead)
    }
    yield* Console.log(isCurrent ? "The schema is current." : "The schema was migrated.")
  })
  yield* deployment.onDatabase(settings, run)
})
