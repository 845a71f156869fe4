/**
 * The secrets that a deployment needs: those of the settings, or those kept beside the embedded database.
 *
 * @since 0.1.0
 */
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { EncryptionKey } from "./Parsers.ts"
import * as Parsers from "./Parsers.ts"
import type { SettingsShape } from "./Settings.ts"

/**
 * The secrets of a deployment.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeploymentSecrets {
  readonly jwtSecret: string
  readonly encryptionKeys: ReadonlyArray<EncryptionKey>
}

type Kept = Readonly<Record<"GOVOICE_JWT_SECRET" | "GOVOICE_ENCRYPTION_KEYS", string>>

const generate = (): Kept => ({
  GOVOICE_JWT_SECRET: randomBytes(48).toString("base64url"),
  GOVOICE_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`
})

const isKept = (value: unknown): value is Kept =>
  typeof value === "object" &&
  value !== null &&
  "GOVOICE_JWT_SECRET" in value &&
  typeof value.GOVOICE_JWT_SECRET === "string" &&
  "GOVOICE_ENCRYPTION_KEYS" in value &&
  typeof value.GOVOICE_ENCRYPTION_KEYS === "string"

const readKept = (path: string): Kept => {
  const text = readFileSync(path, "utf8")
  const kept: unknown = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
  if (!isKept(kept)) throw new Error(`${path} is damaged: restore it, or remove the data directory to start anew`)
  return kept
}

// Written whole or not at all: linking fails when another start was quicker, and then its file is read.
const keep = (dataDir: string): Kept => {
  const path = join(dataDir, "secrets.json")
  if (existsSync(path)) return readKept(path)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const made = generate()
  const draft = `${path}.${randomBytes(6).toString("hex")}`
  writeFileSync(draft, `${JSON.stringify(made, null, 2)}\n`, { flag: "wx", mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return readKept(path)
  } finally {
    rmSync(draft)
  }
  return made
}

/**
 * Finds the secrets. With the embedded database, what the settings leave out is made once and kept in the data directory;
 * in memory, for this run.
 *
 * @category constructors
 * @since 0.1.0
 */
export const find = ({ database, encryptionKeys, jwtSecret }: SettingsShape): DeploymentSecrets => {
  if (jwtSecret !== undefined && encryptionKeys !== undefined) return { jwtSecret, encryptionKeys }
  const kept = database._tag === "Embedded" && database.dataDir !== undefined ? keep(database.dataDir) : generate()
  return {
    jwtSecret: jwtSecret ?? kept.GOVOICE_JWT_SECRET,
    encryptionKeys: encryptionKeys ?? Parsers.encryptionKeys(kept.GOVOICE_ENCRYPTION_KEYS)
  }
}
