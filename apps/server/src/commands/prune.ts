/** `govoice prune`: deletes now what workers delete every hour. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Pruner from "../maintenance/Pruner.ts"
import { Settings } from "../settings/Settings.ts"
import * as deployment from "./deployment.ts"

const run = Effect.gen(function* () {
  const { prune } = yield* Pruner.Pruner
  const { apiKeys, endpoints, events, idempotencyRecords, refreshTokens, sessions } = yield* prune
  yield* Console.log(`events with their deliveries  ${events}`)
  yield* Console.log(`idempotency records           ${idempotencyRecords}`)
  yield* Console.log(`refresh tokens                ${refreshTokens}`)
  yield* Console.log(`sessions                      ${sessions}`)
  yield* Console.log(`API keys                      ${apiKeys}`)
  yield* Console.log(`webhook endpoints             ${endpoints}`)
})

export const prune = (environment: deployment.Environment) =>
  Command.make(
    "prune",
    {},
    Effect.fnUntraced(function* () {
      const settings = yield* deployment.settings(environment)
      yield* deployment.onMigrated(
        settings,
        run.pipe(Effect.provide(Pruner.layer), Effect.provideService(Settings, settings))
      )
    })
  ).pipe(
    Command.withDescription(
      "Delete records past their retention, and print how many: events with their deliveries after GOVOICE_EVENT_RETENTION_DAYS, idempotency records after GOVOICE_IDEMPOTENCY_RETENTION_DAYS, refresh tokens a day after they expired, sessions without any, API keys 7 days after they were revoked or expired, and webhook endpoints 7 days after they were deleted, if no delivery of theirs is left. Workers do so every hour. Work that is not complete is kept, and so are all invoices, documents and receipts."
    ),
    Command.withShortDescription("Delete records past their retention.")
  )
