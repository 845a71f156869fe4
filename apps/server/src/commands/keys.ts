/** `govoice keys`: the secrets that a deployment brings itself. */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { randomBytes } from "node:crypto"
import * as KeyRing from "../crypto/KeyRing.ts"
import * as KeyCheck from "../maintenance/KeyCheck.ts"
import * as deployment from "./deployment.ts"
import { Failure } from "./Failure.ts"
import { rotateEncryption } from "../maintenance/rotateEncryption.ts"

const generate = Command.make(
  "generate",
  { id: Flag.String("id").pipe(Flag.withDescription("The id of the encryption key."), Flag.withDefault("k1")) },
  Effect.fnUntraced(function* ({ id }) {
    yield* Console.log(`GOVOICE_JWT_SECRET=${randomBytes(48).toString("base64url")}`)
    yield* Console.log(`GOVOICE_ENCRYPTION_KEYS=${id}:${randomBytes(32).toString("base64")}`)
  })
).pipe(
  Command.withDescription("Print new secrets for a deployment with DATABASE_URL. Stores nothing."),
  Command.withExamples([
    {
      command: "(umask 077; govoice keys generate > govoice.env)",
      description: "Write them to a file that only you can read"
    }
  ])
)

const rotate = (environment: deployment.Environment) =>
  Command.make(
    "rotate-encryption",
    {},
    Effect.fnUntraced(function* () {
      const settings = yield* deployment.settings(environment)
      const { encryptionKeys } = yield* deployment.secrets(settings)
      const run = Effect.gen(function* () {
        const problem = KeyCheck.describe(yield* KeyCheck.check)
        if (problem !== undefined) return yield* new Failure({ message: `${problem} ${KeyCheck.remedy}` })
        return yield* rotateEncryption
      })
      const rotated = yield* deployment.onMigrated(settings, Effect.provide(run, KeyRing.layer(encryptionKeys)))
      yield* Console.log(`Re-encrypted ${rotated} values with key ${encryptionKeys[0]?.id}.`)
    })
  ).pipe(
    Command.withDescription(
      "Re-encrypt stored values with the first key of GOVOICE_ENCRYPTION_KEYS. Rotate a key in two phases, so that no process meets a value it cannot open: 1. append the new key (old,new) and restart every process; 2. move it to the front (new,old) and restart every process. Then run this command, check that 'govoice doctor' reports the keys as ok, remove the old key, and restart every process."
    ),
    Command.withShortDescription("Re-encrypt stored values with the first key.")
  )

export const keys = (environment: deployment.Environment) =>
  Command.make("keys").pipe(
    Command.withDescription("Secrets of a deployment."),
    Command.withSubcommands([generate, rotate(environment)])
  )
