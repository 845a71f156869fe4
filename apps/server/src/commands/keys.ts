/**
 * `govoice keys`: the secrets that a deployment brings itself.
 *
 * @since 0.1.0
 */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { randomBytes } from "node:crypto"
import * as KeyRing from "../security/KeyRing.ts"
import * as DeploymentSecrets from "../settings/DeploymentSecrets.ts"
import * as deployment from "./deployment.ts"
import { rotateEncryption } from "./rotateEncryption.ts"

const generate = Command.make(
  "generate",
  { id: Flag.String("id").pipe(Flag.withDescription("The name of the encryption key."), Flag.withDefault("k1")) },
  Effect.fnUntraced(function* ({ id }) {
    yield* Console.log(`GOVOICE_JWT_SECRET=${randomBytes(48).toString("base64url")}`)
    yield* Console.log(`GOVOICE_ENCRYPTION_KEYS=${id}:${randomBytes(32).toString("base64")}`)
  })
).pipe(
  Command.withDescription(
    "Print new secrets for a deployment with DATABASE_URL. Nothing is stored: keep them where your deployment keeps secrets."
  ),
  Command.withExamples([
    { command: "(umask 077; govoice keys generate > govoice.env)", description: "Into a file of your own" }
  ])
)

const rotate = (environment: deployment.Environment) =>
  Command.make(
    "rotate-encryption",
    {},
    Effect.fnUntraced(function* () {
      const settings = yield* deployment.settings(environment)
      const { encryptionKeys } = DeploymentSecrets.find(settings)
      const rotated = yield* deployment.onMigrated(
        settings,
        rotateEncryption.pipe(Effect.provide(KeyRing.layer(encryptionKeys)))
      )
      yield* Console.log(`${rotated} values were stored anew, under ${encryptionKeys[0]?.id}.`)
    })
  ).pipe(
    Command.withDescription(
      "Store anew, under the first key of GOVOICE_ENCRYPTION_KEYS, what is stored under others. First put the new key in front of the list, and restart every process with it. Then run this, see that the doctor calls the keys ok, and take the old keys away."
    ),
    Command.withShortDescription("Store everything anew under the first encryption key.")
  )

/**
 * The command, for these environment variables.
 *
 * @category constructors
 * @since 0.1.0
 */
export const keys = (environment: deployment.Environment) =>
  Command.make("keys").pipe(
    Command.withDescription("The secrets that a deployment brings itself."),
    Command.withSubcommands([generate, rotate(environment)])
  )
