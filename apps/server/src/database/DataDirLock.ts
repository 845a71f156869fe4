/**
 * Locks the data directory of an embedded database, so that one process at a time uses it.
 *
 * The lock is a file that names its holder: host, process, and start time of the process. A process id is compared only within
 * its namespace, which boot id and PID namespace identify: there, the lock of a process that is gone is free at once. Anywhere
 * else, such as in another container on the same volume, it is free when the file was not touched for a while.
 */
import { Data, Effect, Result, Schedule, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import {
  accessSync,
  constants,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
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
  /** The boot of the kernel and the PID namespace; empty where they cannot be read. */
  readonly namespace: string
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
  ["host", "namespace", "startTime", "token"].every(
    (name) => typeof (value as Record<string, unknown>)[name] === "string"
  ) &&
  Number.isSafeInteger((value as Record<string, unknown>)["pid"])

const read = (path: string): Holder | undefined => {
  const value = Result.getOrUndefined(Result.try((): unknown => JSON.parse(readFileSync(path, "utf8"))))
  return isHolder(value) ? value : undefined
}

/** Identifies the boot of the kernel and the PID namespace of this process. Empty where they cannot be read. */
export const pidNamespace = (): string =>
  Result.getOrElse(
    Result.try(
      () => `${readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()} ${readlinkSync("/proc/self/ns/pid")}`
    ),
    () => ""
  )

const isComparable = ({ host, namespace }: Holder): boolean => host === hostname() && namespace === pidNamespace()

const touchedAt = (path: string): number =>
  Result.getOrElse(
    Result.try(() => statSync(path).mtimeMs),
    () => 0
  )

const isTouched = (path: string): boolean => Date.now() - touchedAt(path) < staleLockMs

const isRunning = ({ pid, startTime }: Holder): boolean =>
  pid !== process.pid && exists(pid) && processStartTime(pid) === startTime

/**
 * Whether the holder still runs. A container that is restarted after a crash has the host name of the old one and another
 * namespace: it waits until the file is touched, or was not for long enough.
 */
const isAlive = Effect.fnUntraced(function* (path: string, holder: Holder) {
  if (isComparable(holder)) return isRunning(holder)
  if (holder.host !== hostname()) return isTouched(path)
  const before = touchedAt(path)
  if (isTouched(path)) {
    yield* Effect.logWarning(`Data directory is locked by another container; waiting up to ${staleLockMs} ms`)
  }
  while (isTouched(path)) {
    if (touchedAt(path) !== before) return true
    yield* Effect.sleep("250 millis")
  }
  return false
})

const inUse = (dataDir: string, holder: Holder) => {
  const { host, pid } = holder
  const where = isComparable(holder) ? "" : host === hostname() ? " of another container" : ` on ${host}`
  return new DataDirInUse({ dataDir, holder: `process ${pid}${where}` })
}

const ensureDirectory = (dataDir: string): Effect.Effect<void, DeploymentError> =>
  Effect.try({
    try: () => DataDirectory.ensure(dataDir),
    catch: (error) => error as DeploymentError
  })

// The file is renamed into place complete.
const write = (path: string, self: Holder): Effect.Effect<void, DeploymentError> =>
  Effect.try({
    try: () => {
      const draft = `${path}.${self.token}`
      try {
        writeFileSync(draft, JSON.stringify(self), { mode: 0o600 })
        renameSync(draft, path)
      } finally {
        rmSync(draft, { force: true })
      }
    },
    catch: (error) => DataDirectory.faultOfFile(path, "written", error)
  })

// Whether the holder of an unreadable lock runs is unknown.
const assertReadable = (path: string): Effect.Effect<void, DeploymentError> =>
  Effect.try({
    try: () => {
      if (statSync(path, { throwIfNoEntry: false }) !== undefined) accessSync(path, constants.R_OK)
    },
    catch: (error) => DataDirectory.faultOfFile(path, "read", error)
  })

const isDraft = (name: string): boolean => /^(?:lock|secrets)\.json\.[0-9a-f]{12,16}$/.test(name)

/** Removes drafts of files that killed processes left. A process that starts now has written its own just before. */
const removeDrafts = (dataDir: string): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const path of readdirSync(dataDir)
      .filter(isDraft)
      .map((name) => join(dataDir, name))) {
      if (!isTouched(path)) rmSync(path, { force: true })
    }
  }).pipe(Effect.ignoreCause)

/** Locks a data directory, which it creates if necessary, for as long as the scope lasts. */
export const acquire = (dataDir: string): Effect.Effect<void, DataDirInUse | DeploymentError, Scope.Scope> =>
  Effect.gen(function* () {
    const path = join(dataDir, "lock.json")
    const token = randomBytes(8).toString("hex")
    const self: Holder = {
      host: hostname(),
      namespace: pidNamespace(),
      pid: process.pid,
      startTime: processStartTime(process.pid),
      token
    }

    yield* ensureDirectory(dataDir)
    yield* assertReadable(path)
    const before = read(path)
    if (before !== undefined && (yield* isAlive(path, before))) return yield* inUse(dataDir, before)

    yield* Effect.acquireRelease(write(path, self), () =>
      Effect.sync(() => read(path)?.token === token && rmSync(path))
    )

    // Of two that write at once, the later one has the lock.
    yield* Effect.sleep("50 millis")
    const after = read(path)
    if (after !== undefined && after.token !== token) return yield* inUse(dataDir, after)
    yield* removeDrafts(dataDir)

    yield* Effect.sync(() => utimesSync(path, new Date(), new Date())).pipe(
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced(touchEvery)),
      Effect.forkScoped
    )
  })
