/** The secrets of a deployment: those of the settings, or generated ones stored beside the embedded database. */
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as DataDirectory from "./DataDirectory.ts"
import { DeploymentError } from "./DeploymentError.ts"
import * as newSecrets from "./newSecrets.ts"
import type { EncryptionKey } from "./Parsers.ts"
import * as Parsers from "./Parsers.ts"
import type { SettingsShape } from "./Settings.ts"

export interface DeploymentSecrets {
  readonly jwtSecret: string
  readonly encryptionKeys: ReadonlyArray<EncryptionKey>
}

type StoredSecrets = Readonly<Record<"GOVOICE_JWT_SECRET" | "GOVOICE_ENCRYPTION_KEYS", string>>

const generate = (): StoredSecrets => ({
  GOVOICE_JWT_SECRET: newSecrets.jwtSecret(),
  GOVOICE_ENCRYPTION_KEYS: newSecrets.encryptionKey("k1")
})

const areKeys = (text: string): boolean => Result.isSuccess(Result.try(() => Parsers.encryptionKeys(text)))

const isStoredSecrets = (value: unknown): value is StoredSecrets =>
  typeof value === "object" &&
  value !== null &&
  "GOVOICE_JWT_SECRET" in value &&
  typeof value.GOVOICE_JWT_SECRET === "string" &&
  "GOVOICE_ENCRYPTION_KEYS" in value &&
  typeof value.GOVOICE_ENCRYPTION_KEYS === "string" &&
  areKeys(value.GOVOICE_ENCRYPTION_KEYS)

const parse = (content: string): unknown => Result.getOrUndefined(Result.try((): unknown => JSON.parse(content)))

const load = (path: string): StoredSecrets => {
  const content = Result.try(() => readFileSync(path, "utf8"))
  if (Result.isFailure(content)) throw DataDirectory.faultOfFile(path, "read", content.failure)
  const stored = parse(content.success)
  if (isStoredSecrets(stored)) return stored
  throw new DeploymentError({
    message: `${path} does not have the secrets of this deployment. Restore it from a backup: without it, stored secrets cannot be decrypted.`
  })
}

const pathIn = (dataDir: string): string => join(dataDir, "secrets.json")

/** Returns the path of the secrets that are stored beside an embedded database. */
export const pathOf = ({ database }: SettingsShape): string | undefined =>
  database._tag === "Postgres" || database.dataDir === undefined ? undefined : pathIn(database.dataDir)

// The file is linked into place complete. When another process was faster, its file is read.
const persist = (dataDir: string): StoredSecrets => {
  const path = pathIn(dataDir)
  if (existsSync(path)) return load(path)
  DataDirectory.ensure(dataDir)
  const generated = generate()
  const draft = `${path}.${randomBytes(6).toString("hex")}`
  try {
    writeFileSync(draft, `${JSON.stringify(generated, null, 2)}\n`, { flag: "wx", mode: 0o600, flush: true })
    linkSync(draft, path)
    return generated
  } catch (error) {
    if (existsSync(path)) return load(path)
    throw DataDirectory.faultOfFile(path, "written", error)
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Returns the encryption keys of the settings, or those that are stored in the data directory; `undefined` if there are none.
 *
 * @throws {DeploymentError} when stored secrets cannot be read.
 */
export const findKeys = (settings: SettingsShape): ReadonlyArray<EncryptionKey> | undefined => {
  const { encryptionKeys } = settings
  const path = pathOf(settings)
  if (encryptionKeys !== undefined || path === undefined) return encryptionKeys
  return existsSync(path) ? Parsers.encryptionKeys(load(path).GOVOICE_ENCRYPTION_KEYS) : undefined
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
