/** The data directory of the embedded Postgres. */
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from "node:fs"
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

const unusable = (path: string, error: unknown): DeploymentError => {
  const { code, message } = error as NodeJS.ErrnoException
  return new DeploymentError({
    message: `Data directory ${path} cannot be used (${code ?? message}). Make it a directory that this user can write to, or set GOVOICE_DATA_DIR to another one.`
  })
}

/**
 * Creates a directory and its parents unless they exist, each for its owner only.
 *
 * @throws {DeploymentError} when it cannot be created or written to.
 */
export const ensure = (path: string): void => {
  const absolute = resolve(path)
  try {
    create(absolute)
    accessSync(absolute, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(absolute, error)
  }
}

const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)))

/** Returns why a directory could not be created or written to, or `undefined`. Leaves nothing behind. */
export const faultOf = (path: string): DeploymentError | undefined => {
  const absolute = resolve(path)
  try {
    rmdirSync(mkdtempSync(join(nearestExisting(absolute), ".govoice-")))
    return undefined
  } catch (error) {
    return unusable(absolute, error)
  }
}
