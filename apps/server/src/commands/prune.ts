/** `govoice prune`: deletes now what workers delete every hour. */
import { Console, Effect } from "effect"
import * as Pruner from "../maintenance/Pruner.ts"
import { Settings } from "../settings/Settings.ts"
import * as deployment from "./deployment.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"

const run = Effect.gen(function* () {
  const { prune } = yield* Pruner.Pruner
  const { apiKeys, endpoints, idempotencyRecords, refreshTokens, sessions, weeks } = yield* prune
  yield* Console.log(`weeks of events               ${weeks}`)
  yield* Console.log(`idempotency records           ${idempotencyRecords}`)
  yield* Console.log(`refresh tokens                ${refreshTokens}`)
  yield* Console.log(`sessions                      ${sessions}`)
  yield* Console.log(`API keys                      ${apiKeys}`)
  yield* Console.log(`webhook endpoints             ${endpoints}`)
})

/** Deletes them, and prints how many of each kind. */
export const prune = Effect.fnUntraced(function* (env: EnvironmentVariables) {
  const settings = yield* deployment.settings(env)
  yield* deployment.onMigrated(
    settings,
    run.pipe(Effect.provide(Pruner.layer), Effect.provideService(Settings, settings))
  )
})
