/** The data directory of the embedded Postgres. */
import { accessSync, constants, lstatSync, mkdirSync, mkdtempSync, rmdirSync, statfsSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { DeploymentError } from "./DeploymentError.ts"

const ownerOnly = 0o700

// `recursive` of mkdir never returns where a file system refuses directories with ENOENT, as /proc does.
const create = (path: string): void => {
  try {
    mkdirSync(path, { mode: ownerOnly })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST" && statSync(path).isDirectory()) return
    const parent = dirname(path)
    if (code !== "ENOENT" || isDirectory(parent)) throw error
    create(parent)
    mkdirSync(path, { mode: ownerOnly })
  }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

const moveAway = "Move it away, or set GOVOICE_DATA_DIR to another directory."

/** Returns the remedy for an error of the file system on a path in the data directory. */
export const remedyOf = (error: unknown): string => {
  switch (codeOf(error)) {
    case "ENOSPC":
    case "EDQUOT":
      return "Free space on its disk, or set GOVOICE_DATA_DIR to a directory on another one."
    case "EISDIR":
    case "ENOTDIR":
    case "EEXIST":
      return moveAway
    default:
      return "Let this user read and write it, or set GOVOICE_DATA_DIR to another directory."
  }
}

/** The error of a file in the data directory that could not be `read`, `written` and the like. */
export const faultOfFile = (path: string, verb: string, error: unknown): DeploymentError =>
  new DeploymentError({ message: `${path} cannot be ${verb} (${(error as Error).message}). ${remedyOf(error)}` })

// The working directory may be gone.
const shown = (path: string): string => {
  try {
    return resolve(path)
  } catch {
    return path
  }
}

const unusable = (path: string, error: unknown): DeploymentError => {
  const code = codeOf(error)
  const remedy =
    code === "ENOSPC" || code === "EDQUOT"
      ? remedyOf(error)
      : "Make it a directory that this user can write to, or set GOVOICE_DATA_DIR to another one."
  return new DeploymentError({
    message: `Data directory ${shown(path)} cannot be used (${code ?? (error as Error).message}). ${remedy}`
  })
}

/**
 * Creates a directory and its parents unless they exist, each for its owner only.
 *
 * @throws {DeploymentError} when it cannot be created or written to.
 */
export const ensure = (path: string): void => {
  try {
    const absolute = resolve(path)
    create(absolute)
    accessSync(absolute, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(path, error)
  }
}

// A link exists also where its target does not.
const nearestExisting = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false }) === undefined ? nearestExisting(dirname(path)) : path

// A new database takes 40 MB, and grows.
const minFreeBytes = 100 * 1024 * 1024

const entries = { "lock.json": "file", "secrets.json": "file", postgres: "directory", "postgres.incomplete": "file" }

const faultOfEntries = (directory: string): DeploymentError | undefined => {
  for (const [name, kind] of Object.entries(entries)) {
    const path = join(directory, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) continue
    if (kind === "file" ? !found.isFile() : !found.isDirectory())
      return new DeploymentError({ message: `${path} is not a ${kind}. ${moveAway}` })
    try {
      accessSync(path, constants.R_OK | constants.W_OK | (kind === "file" ? 0 : constants.X_OK))
    } catch (error) {
      return faultOfFile(path, "used", error)
    }
  }
  return undefined
}

/** Returns why a database could not be created in a directory, or `undefined`. Leaves nothing behind. */
export const faultOf = (path: string): DeploymentError | undefined => {
  try {
    const absolute = resolve(path)
    const existing = nearestExisting(absolute)
    rmdirSync(mkdtempSync(join(existing, ".govoice-")))
    const { bavail, bsize } = statfsSync(existing)
    if (bavail * bsize < minFreeBytes) throw Object.assign(new Error("The disk is full"), { code: "ENOSPC" })
    return faultOfEntries(absolute)
  } catch (error) {
    return unusable(path, error)
  }
}
