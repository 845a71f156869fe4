/**
 * One process at a time on the embedded database: two would write over each other.
 *
 * @since 0.1.0
 */
import { Effect, type Scope } from "effect"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Failure } from "./Failure.ts"

const pathIn = (dataDir: string): string => join(dataDir, "process.pid")

// In a container every start may have the same number, so a file with our own is one that an earlier start left behind.
const isRunning = (pid: number): boolean => {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

const readPid = (path: string): number | undefined => {
  try {
    return Number(readFileSync(path, "utf8")) || undefined
  } catch {
    return undefined
  }
}

/**
 * The process that holds a data directory, if there is one.
 *
 * @category getters
 * @since 0.1.0
 */
export const holder = (dataDir: string): number | undefined => {
  const pid = readPid(pathIn(dataDir))
  return pid !== undefined && isRunning(pid) ? pid : undefined
}

const tryTake = (dataDir: string): boolean => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const write = (): boolean => {
    try {
      writeFileSync(pathIn(dataDir), String(process.pid), { flag: "wx", mode: 0o600 })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
      return false
    }
  }
  if (write()) return true
  if (holder(dataDir) !== undefined) return false
  rmSync(pathIn(dataDir), { force: true })
  return write()
}

const release = (dataDir: string): void => {
  if (readPid(pathIn(dataDir)) === process.pid) rmSync(pathIn(dataDir), { force: true })
}

const refused = (dataDir: string): Failure => {
  const pid = holder(dataDir)
  return new Failure({
    message: `${pid === undefined ? "Another process" : `Process ${pid}`} is using the data directory ${dataDir}. The embedded database belongs to one process at a time: stop the server first, or use its API.`
  })
}

const takeNow = (dataDir: string): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    try {
      return tryTake(dataDir) ? Effect.void : Effect.fail(refused(dataDir))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return Effect.fail(new Failure({ message: `The data directory cannot be used: ${message}.` }))
    }
  })

/**
 * Takes a data directory for as long as the scope lasts, and fails when another process has it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const take = (dataDir: string): Effect.Effect<void, Failure, Scope.Scope> =>
  Effect.acquireRelease(takeNow(dataDir), () => Effect.sync(() => release(dataDir)))

/**
 * Takes a data directory until the process ends, however it does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const takeForGood = (dataDir: string): Effect.Effect<void, Failure> =>
  Effect.tap(takeNow(dataDir), () => Effect.sync(() => process.once("exit", () => release(dataDir))))
