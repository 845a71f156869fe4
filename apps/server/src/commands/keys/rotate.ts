/** Re-encrypts the stored values of the deployment. */
import { Console, Effect } from "effect"
import * as KeyRing from "../../crypto/KeyRing.ts"
import * as KeyCheck from "../../maintenance/KeyCheck.ts"
import { rotateEncryption } from "../../maintenance/rotateEncryption.ts"
import * as deployment from "../deployment.ts"
import type { EnvironmentVariables } from "../../settings/EnvironmentVariables.ts"
import { CommandFailure } from "../CommandFailure.ts"

const reencrypt = Effect.gen(function* () {
  const problem = KeyCheck.describe(yield* KeyCheck.check)
  if (problem !== undefined) return yield* new CommandFailure({ message: `${problem} ${KeyCheck.remedy}` })
  return yield* rotateEncryption
})

/** Re-encrypts with the first key, and prints how many values. Fails when a value cannot be opened. */
export const rotate = Effect.fnUntraced(function* (env: EnvironmentVariables) {
  const settings = yield* deployment.settings(env)
  const { encryptionKeys } = yield* deployment.secrets(settings)
  const rotated = yield* deployment.onMigrated(settings, Effect.provide(reencrypt, KeyRing.layer(encryptionKeys)))
  yield* Console.log(`Re-encrypted ${rotated} values with key ${encryptionKeys[0]?.id}.`)
})
