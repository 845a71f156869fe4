/**
 * `govoice keys`: the secrets that a deployment brings itself.
 *
 * @since 0.1.0
 */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { randomBytes } from "node:crypto"
import type * as deployment from "./deployment.ts"

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

/**
 * The command, for these environment variables.
 *
 * @category constructors
 * @since 0.1.0
 */
export const keys = (_environment: deployment.Environment) =>
  Command.make("keys").pipe(
    Command.withDescription("The secrets that a deployment brings itself."),
    Command.withSubcommands([generate])
  )
