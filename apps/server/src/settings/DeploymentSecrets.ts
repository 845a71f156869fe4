/** The secrets of a deployment: those of the settings, or generated ones stored beside the embedded database. */
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as DataDirectory from "./DataDirectory.ts"
import { DeploymentError } from "./DeploymentError.ts"
import type { EncryptionKey } from "./Parsers.ts"
import * as Parsers from "./Parsers.ts"
import type { SettingsShape } from "./Settings.ts"

export interface DeploymentSecrets {
  readonly jwtSecret: string
  readonly encryptionKeys: ReadonlyArray<EncryptionKey>
}

type StoredSecrets = Readonly<Record<"GOVOICE_JWT_SECRET" | "GOVOICE_ENCRYPTION_KEYS", string>>

const generate = (): StoredSecrets => ({
  GOVOICE_JWT_SECRET: randomBytes(48).toString("base64url"),
  GOVOICE_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`
})

const isStoredSecrets = (value: unknown): value is StoredSecrets =>
  typeof value === "object" &&
  value !== null &&
  "GOVOICE_JWT_SECRET" in value &&
  typeof value.GOVOICE_JWT_SECRET === "string" &&
  "GOVOICE_ENCRYPTION_KEYS" in value &&
  typeof value.GOVOICE_ENCRYPTION_KEYS === "string"

const load = (path: string): StoredSecrets => {
  const stored: unknown = Result.getOrUndefined(Result.try((): unknown => JSON.parse(readFileSync(path, "utf8"))))
  if (isStoredSecrets(stored)) return stored
  throw new DeploymentError({
    message: `${path} cannot be read. Restore it from a backup: without it, stored secrets cannot be decrypted.`
  })
}

// The file is linked into place complete. When another process was faster, its file is read.
const persist = (dataDir: string): StoredSecrets => {
  const path = join(dataDir, "secrets.json")
  if (existsSync(path)) return load(path)
  DataDirectory.ensure(dataDir)
  const generated = generate()
  const draft = `${path}.${randomBytes(6).toString("hex")}`
  writeFileSync(draft, `${JSON.stringify(generated, null, 2)}\n`, { flag: "wx", mode: 0o600, flush: true })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return load(path)
  } finally {
    rmSync(draft)
  }
  return generated
}

/**
 * Returns the secrets of the settings. With the embedded database, those that are missing are generated once and stored in
 * the data directory, or, in memory, generated for this process.
 *
 * @throws {DeploymentError} when stored secrets cannot be read or written.
 */
export const find = ({ database, encryptionKeys, jwtSecret }: SettingsShape): DeploymentSecrets => {
  if (jwtSecret !== undefined && encryptionKeys !== undefined) return { jwtSecret, encryptionKeys }
  const stored = database._tag === "Embedded" && database.dataDir !== undefined ? persist(database.dataDir) : generate()
  return {
    jwtSecret: jwtSecret ?? stored.GOVOICE_JWT_SECRET,
    encryptionKeys: encryptionKeys ?? Parsers.encryptionKeys(stored.GOVOICE_ENCRYPTION_KEYS)
  }
}
