/** `govoice keys`: the secrets that a deployment brings itself. */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { randomBytes } from "node:crypto"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { load } from "./load.ts"

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

const rotate = (env: EnvironmentVariables) =>
  Command.make("rotate-encryption", {}, () =>
    load(
      () => import("./keys/rotate.ts"),
      ({ rotate }) => rotate(env)
    )
  ).pipe(
    Command.withDescription(
      "Re-encrypt stored values with the first key of GOVOICE_ENCRYPTION_KEYS. Rotate a key in two phases, so that no process meets a value it cannot open: 1. append the new key (old,new) and restart every process; 2. move it to the front (new,old) and restart every process. Then run this command, check that 'govoice doctor' reports the keys as ok, remove the old key, and restart every process."
    ),
    Command.withShortDescription("Re-encrypt stored values with the first key.")
  )

export const keys = (env: EnvironmentVariables) =>
  Command.make("keys").pipe(
    Command.withDescription("Secrets of a deployment."),
    Command.withSubcommands([generate, rotate(env)])
  )
