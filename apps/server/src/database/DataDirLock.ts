/**
 * Locks the data directory of an embedded database, so that one process at a time uses it.
 *
 * The lock is a file that names its holder: host, process, and start time of the process. On the same host, the lock of a
 * process that is gone is free at once. On another host, such as a container on the same volume, it is free when the file
 * was not touched for a while.
 */
import { Data, Effect, Result, Schedule, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import * as DataDirectory from "../settings/DataDirectory.ts"
import type { DeploymentError } from "../settings/DeploymentError.ts"

/** Another process uses the data directory. */
export class DataDirInUse extends Data.TaggedError("DataDirInUse")<{
  readonly dataDir: string
  readonly holder: string
}> {
  override get message(): string {
    return `${this.dataDir} is in use by ${this.holder}. Stop it, or set GOVOICE_DATA_DIR to another directory.`
  }
}

interface Holder {
  readonly host: string
  readonly pid: number
  /** In clock ticks since the system booted; empty where it cannot be read. */
  readonly startTime: string
  /** Distinguishes holders that agree in everything else, as processes of containers can. */
  readonly token: string
}

const touchEvery = "5 seconds"
const staleLockMs = 20_000

// Process numbers are reused. The 22nd field of the file is the start time (proc(5)).
const processStartTime = (pid: number): string =>
  Result.getOrElse(
    Result.try(() => {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
    }),
    () => ""
  )

const exists = (pid: number): boolean =>
  Result.match(
    Result.try({
      try: () => process.kill(pid, 0),
      catch: (error) => (error as NodeJS.ErrnoException).code
    }),
    { onSuccess: () => true, onFailure: (code) => code === "EPERM" }
  )

const isHolder = (value: unknown): value is Holder =>
  typeof value === "object" &&
  value !== null &&
  ["host", "startTime", "token"].every((name) => typeof (value as Record<string, unknown>)[name] === "string") &&
  Number.isSafeInteger((value as Record<string, unknown>)["pid"])

const read = (path: string): Holder | undefined => {
  const value = Result.getOrUndefined(Result.try((): unknown => JSON.parse(readFileSync(path, "utf8"))))
  return isHolder(value) ? value : undefined
}

const isAlive = (path: string, { host, pid, startTime }: Holder): boolean =>
  host === hostname()
    ? pid !== process.pid && exists(pid) && processStartTime(pid) === startTime
    : Date.now() - statSync(path).mtimeMs < staleLockMs

const inUse = (dataDir: string, { host, pid }: Holder) =>
  new DataDirInUse({ dataDir, holder: host === hostname() ? `process ${pid}` : `process ${pid} on ${host}` })

const ensureDirectory = (dataDir: string): Effect.Effect<void, DeploymentError> =>
  Effect.try({
    try: () => DataDirectory.ensure(dataDir),
    catch: (error) => error as DeploymentError
  })

/** Locks a data directory, which it creates if necessary, for as long as the scope lasts. */
export const acquire = (dataDir: string): Effect.Effect<void, DataDirInUse | DeploymentError, Scope.Scope> =>
  Effect.gen(function* () {
    const path = join(dataDir, "lock.json")
    const token = randomBytes(8).toString("hex")
    const self: Holder = { host: hostname(), pid: process.pid, startTime: processStartTime(process.pid), token }

    yield* ensureDirectory(dataDir)
    const before = read(path)
    if (before !== undefined && isAlive(path, before)) return yield* inUse(dataDir, before)

    yield* Effect.acquireRelease(
      Effect.sync(() => {
        writeFileSync(`${path}.${token}`, JSON.stringify(self), { mode: 0o600 })
        renameSync(`${path}.${token}`, path)
      }),
      () => Effect.sync(() => read(path)?.token === token && rmSync(path))
    )

    // Of two that write at once, the later one has the lock.
    yield* Effect.sleep("50 millis")
    const after = read(path)
    if (after !== undefined && after.token !== token) return yield* inUse(dataDir, after)

    yield* Effect.sync(() => utimesSync(path, new Date(), new Date())).pipe(
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced(touchEvery)),
      Effect.forkScoped
    )
  })
