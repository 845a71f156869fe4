/**
 * `govoice prune`: removes now what the server removes every hour.
 *
 * @since 0.1.0
 */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Retention from "../engine/Retention.ts"
import { Settings } from "../settings/Settings.ts"
import * as deployment from "./deployment.ts"

const run = Effect.gen(function* () {
  const { prune } = yield* Retention.Retention
  const { events, idempotencyRecords } = yield* prune
  yield* Console.log(`events with their deliveries  ${events}`)
  yield* Console.log(`idempotency records           ${idempotencyRecords}`)
})

/**
 * The command, for these environment variables.
 *
 * @category constructors
 * @since 0.1.0
 */
export const prune = (environment: deployment.Environment) =>
  Command.make(
    "prune",
    {},
    Effect.fnUntraced(function* () {
      const settings = yield* deployment.settings(environment)
      yield* deployment.onMigrated(
        settings,
        run.pipe(Effect.provide(Retention.layer), Effect.provideService(Settings, settings))
      )
    })
  ).pipe(
    Command.withDescription(
      "Remove events, deliveries and idempotency records that have been finished for as long as GOVOICE_EVENT_RETENTION_DAYS and GOVOICE_IDEMPOTENCY_RETENTION_DAYS say, and print how many. Workers do it every hour by themselves. Nothing with work left is removed, and no invoice, document or receipt ever."
    ),
    Command.withShortDescription("Remove what has been finished for long.")
  )
