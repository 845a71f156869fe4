/** The parts that the commands of `govoice ksef` share: the environment, its client, and the named organization. */
import { type Environment, KsefClient } from "@govoice/ksef/client"
import { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import * as GatewayCredentials from "../../invoices/live/GatewayCredentials.ts"
import { NationalSystem } from "../../invoices/live/ksef/NationalSystem.ts"
import * as Organizations from "../../accounts/Organizations.ts"
import * as KeyRing from "../../crypto/KeyRing.ts"
import { Settings, type SettingsShape } from "../../settings/Settings.ts"
import { version } from "../../version.ts"
import * as deployment from "../deployment.ts"
import { CommandFailure } from "../CommandFailure.ts"

/** Returns the environment of KSeF that the settings name. */
export const ksefEnvironmentOf = ({ ksef }: SettingsShape): Effect.Effect<Environment.Environment, CommandFailure> =>
  ksef.environment === undefined
    ? Effect.fail(
        new CommandFailure({
          message: "No environment of KSeF is configured. Set GOVOICE_KSEF_ENVIRONMENT or GOVOICE_KSEF_URL."
        })
      )
    : Effect.succeed(ksef.environment)

/** Runs an effect with a client of the environment. */
export const withClient = <A, E, R>(
  settings: SettingsShape,
  use: (client: KsefClient.KsefClient) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const ksefEnvironment = yield* ksefEnvironmentOf(settings)
    const client = yield* KsefClient.make({
      environment: ksefEnvironment,
      ca: settings.ksef.ca,
      userAgent: `Govoice/${version}`
    })
    return yield* use(client)
  }).pipe(Effect.scoped)

// Also while live mode is off: removing a credential ends its login. The database does not remember the environment for it.
const nationalSystem = ({ ksef: { ca, environment, environmentId } }: SettingsShape) =>
  environment === undefined || environmentId === undefined
    ? Layer.empty
    : Layer.effect(
        NationalSystem,
        Effect.map(KsefClient.make({ environment, ca, userAgent: `Govoice/${version}` }), (client) => ({
          client,
          environment,
          environmentId
        }))
      )

/** Runs an effect on the stores of the deployment. */
export const withStores = <A, E>(
  settings: SettingsShape,
  effect: Effect.Effect<A, E, GatewayCredentials.GatewayCredentials | Organizations.Organizations>
) =>
  Effect.gen(function* () {
    const { encryptionKeys } = yield* deployment.secrets(settings)
    const stores = Layer.merge(GatewayCredentials.layer, Organizations.layer).pipe(
      Layer.provide([KeyRing.layer(encryptionKeys), Layer.succeed(Settings)(settings), nationalSystem(settings)])
    )
    return yield* deployment.onMigrated(settings, Effect.provide(effect, stores))
  })

/** Finds the organization that a flag names, and its account. */
export const findOrganization = (id: string) =>
  Effect.gen(function* () {
    const notFound = new CommandFailure({
      message: `There is no organization ${JSON.stringify(id)}. Check the id, and that DATABASE_URL or GOVOICE_DATA_DIR names the database of this deployment.`
    })
    if (!Ids.is("org", id)) return yield* notFound
    const accountId = yield* (yield* Organizations.Organizations).ownerOf(id)
    return accountId === undefined ? yield* notFound : { id, accountId }
  })
