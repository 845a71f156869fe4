/** `govoice organizations`: what an operator decides about one organization. */
import { Ids } from "@govoice/core"
import { Console, Effect, Layer } from "effect"
import * as Organizations from "../accounts/Organizations.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import * as ConcurrencyLimits from "../deliveries/ConcurrencyLimits.ts"
import { CommandFailure } from "./CommandFailure.ts"
import * as deployment from "./deployment.ts"
import * as ofCell from "./ofCell.ts"

const parse = (text: string): Effect.Effect<number | null, CommandFailure> => {
  if (text === "default") return Effect.succeed(null)
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= ConcurrencyLimits.maxLimit
    ? Effect.succeed(limit)
    : Effect.fail(
        new CommandFailure({
          message: `Expected a limit from 1 to ${ConcurrencyLimits.maxLimit} or 'default', found ${JSON.stringify(text)}.`
        })
      )
}

/** Finds the organization that a flag names, and its account. */
export const find = Effect.fnUntraced(function* (settings: SettingsShape, id: string) {
  const notFound = new CommandFailure({
    message: `There is no organization ${JSON.stringify(id)}. Check the id, and that DATABASE_URL or GOVOICE_DATA_DIR names the database of this deployment.`
  })
  if (!Ids.is("org", id)) return yield* notFound
  yield* ofCell.onCellOf(settings, id)
  const accountId = yield* (yield* Organizations.Organizations).ownerOf(id)
  return accountId === undefined ? yield* notFound : { id, accountId }
})

/** Sets or removes the limit, and prints what applies. */
export const limit = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { deliveries, organization }: { readonly organization: string; readonly deliveries: string }
) {
  const settings = yield* deployment.settings(env)
  const chosen = yield* parse(deliveries)
  const set = Effect.flatMap(find(settings, organization), ({ id }) => ConcurrencyLimits.set(id, chosen))
  const stores = Organizations.layer.pipe(Layer.provide(Layer.succeed(Settings)(settings)))
  if (!(yield* deployment.onMigrated(settings, Effect.provide(set, stores)))) {
    return yield* new CommandFailure({
      message: `${organization} is being moved to another cell. Set its limit there after the move.`
    })
  }
  const applies = chosen ?? settings.organizationConcurrency
  const source = chosen === null ? ", the limit of the deployment (GOVOICE_TENANT_CONCURRENCY)" : ""
  yield* Console.log(`${organization} may have ${applies} deliveries in flight${source}.`)
})
