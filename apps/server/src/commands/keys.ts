/** `govoice keys`: prints the steps that rotate the encryption key, and re-encrypts stored values. */
import { Console, Effect, Option } from "effect"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import * as newSecrets from "../settings/newSecrets.ts"
import { type EncryptionKey, encryptionKeyId } from "../settings/Parsers.ts"
import * as DeploymentSecrets from "../settings/DeploymentSecrets.ts"
import type { SettingsShape } from "../settings/Settings.ts"
import { CommandFailure } from "./CommandFailure.ts"
import * as deployment from "./deployment.ts"
import * as KeyRing from "../crypto/KeyRing.ts"
import * as KeyCheck from "../maintenance/KeyCheck.ts"
import { rotateEncryption } from "../maintenance/rotateEncryption.ts"

const setting = "GOVOICE_ENCRYPTION_KEYS"

const print = ({ bytes, id }: EncryptionKey): string => `${id}:${Buffer.from(bytes).toString("base64")}`

const freeId = (taken: ReadonlyArray<string>, number = 1): string =>
  taken.includes(`k${number}`) ? freeId(taken, number + 1) : `k${number}`

/** Where the keys of a deployment are, and how they are written there. */
interface Place {
  readonly what: string
  readonly write: (keys: string) => string
}

const placeOf = (env: EnvironmentVariables, settings: SettingsShape): Place => {
  if (env[`${setting}_FILE`] !== undefined)
    return { what: `the content of the file of ${setting}_FILE`, write: (keys) => keys }
  const stored = settings.encryptionKeys === undefined ? DeploymentSecrets.pathOf(settings) : undefined
  return stored === undefined
    ? { what: `the line of ${setting}`, write: (keys) => `${setting}=${keys}` }
    : { what: `the value of ${setting} in ${stored}`, write: (keys) => `"${keys}"` }
}

// Appended to a file of settings as it is, this is the first step: the value of the second is a comment.
const steps = ({ what, write }: Place, current: ReadonlyArray<string>, added: string): string => {
  const line = (keys: ReadonlyArray<string>): string => write(keys.join(","))
  const newId = added.slice(0, added.indexOf(":"))
  return [
    `# 1. Replace ${what} by this one, and restart every process. Each can open values of ${newId} then.`,
    line([...current, added]),
    `# 2. Replace it by the next one, without the #, and restart every process. New values are sealed with ${newId} from then on.`,
    `#    ${line([added, ...current])}`,
    "# 3. Run 'govoice keys rotate-encryption' with these settings.",
    `# 4. When 'govoice doctor' reports the keys as ok, remove the other keys from the list, and restart every process.`
  ].join("\n")
}

/** Prints the steps. Fails when the deployment has no keys, or has one with the id. */
export const rotate = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  flags: { readonly id: Option.Option<string> }
) {
  const settings = yield* deployment.settings(env)
  const encryptionKeys = yield* deployment.encryptionKeys(settings)
  if (encryptionKeys === undefined) {
    return yield* new CommandFailure({
      message: `This deployment has no encryption keys yet: ${setting} is not set, and the data directory has none. 'govoice serve' generates them.`
    })
  }
  const taken = encryptionKeys.map(({ id }) => id)
  const id = Option.getOrElse(flags.id, () => freeId(taken))
  if (!encryptionKeyId.test(id)) {
    return yield* new CommandFailure({
      message: "The id of a key must have 1 to 32 letters, digits, hyphens or underscores. Correct --id."
    })
  }
  if (taken.includes(id)) {
    return yield* new CommandFailure({
      message: `A key has the id ${id} already. Choose another --id, or leave it out.`
    })
  }
  yield* Console.log(steps(placeOf(env, settings), encryptionKeys.map(print), newSecrets.encryptionKey(id)))
})

const reencryptAll = Effect.gen(function* () {
  const problem = KeyCheck.describe(yield* KeyCheck.check)
  if (problem !== undefined) return yield* new CommandFailure({ message: `${problem} ${KeyCheck.remedy}` })
  return yield* rotateEncryption
})

/** Re-encrypts with the first key, and prints how many values. Fails when a value cannot be opened. */
export const reencrypt = Effect.fnUntraced(function* (env: EnvironmentVariables) {
  const settings = yield* deployment.settings(env)
  const { encryptionKeys } = yield* deployment.secrets(settings)
  const rotated = yield* deployment.onMigrated(settings, Effect.provide(reencryptAll, KeyRing.layer(encryptionKeys)))
  yield* Console.log(`Re-encrypted ${rotated} values with key ${encryptionKeys[0]?.id}.`)
})
