/**
 * Locks the data directory of an embedded database, so that one process at a time uses it.
 *
 * The lock is a file that names its holder: host, process, and start time of the process. A process id is compared only within
 * its namespace, which boot id and PID namespace identify: there, the lock of a process that is gone is free at once. Anywhere
 * else, such as in another container on the same volume, it is free when the file was not touched while this process watched it.
 * Its age says nothing: another clock wrote it.
 *
 * A holder that is suspended for so long loses its lock, and cannot know when it goes on. So it looks at the lock before each
 * change of the directory.
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
import * as MonotonicTime from "../observability/MonotonicTime.ts"
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

const touchEveryMs = 5000
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

const isRunning = ({ pid, startTime }: Holder): boolean =>
  pid !== process.pid && exists(pid) && processStartTime(pid) === startTime

const placeOf = (holder: Holder): string =>
  isComparable(holder) ? "" : holder.host === hostname() ? " of another container" : ` on ${holder.host}`

const describe = (holder: Holder): string => `process ${holder.pid}${placeOf(holder)}`

/** Changes with each touch, and with the holder. */
const lastTouch = (path: string): string | undefined => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.ino} ${stats.mtimeNs}`
}

/** Watches a lock until it is touched, or removed, or was not touched for so long that its holder does not run. */
const isTouched = Effect.fnUntraced(function* (path: string, holder: Holder) {
  yield* Effect.logWarning(
    `The data directory is locked by ${describe(holder)}; waiting up to ${staleLockMs / 1000} s to see whether it runs`
  )
  const before = lastTouch(path)
  const startedMs = yield* MonotonicTime.now
  while (true) {
    // Asked before the look: this process can be suspended, too.
    const isOver = (yield* MonotonicTime.now) - startedMs >= staleLockMs
    const touch = lastTouch(path)
    if (touch !== before) return touch !== undefined
    if (isOver) return false
    yield* Effect.sleep("250 millis")
  }
})

/** Whether the holder still runs. */
const isAlive = (path: string, holder: Holder): Effect.Effect<boolean> =>
  isComparable(holder) ? Effect.sync(() => isRunning(holder)) : isTouched(path, holder)

const inUse = (dataDir: string, holder: Holder) => new DataDirInUse({ dataDir, holder: describe(holder) })

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

// A process that starts now has written its own just before.
const isOld = (path: string): boolean => Date.now() - statSync(path).mtimeMs >= staleLockMs

/** Removes drafts of files that killed processes left. */
const removeDrafts = (dataDir: string): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const path of readdirSync(dataDir)
      .filter(isDraft)
      .map((name) => join(dataDir, name))) {
      if (isOld(path)) rmSync(path, { force: true })
    }
  }).pipe(Effect.ignoreCause)

/** Identifies the file at a path, touched or not. Another file can get its number, but not its birth. */
const identityOf = (path: string): string | undefined => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`
}

/** Ends the process, which must not change the directory any more. */
const end = (dataDir: string, holder: Holder | undefined): never => {
  const reason =
    holder === undefined
      ? `The lock of ${dataDir} was removed`
      : `${dataDir} was taken over by ${describe(holder)}, because this process did not touch its lock for ${staleLockMs / 1000} s, as while it is suspended`
  process.stderr.write(`${reason}. This process is exiting. Everything it accepted is stored.\n`)
  process.exit(1)
}

/**
 * Makes the check of a lock that this process has. It ends the process if the lock is another one's now, and touches the file
 * when that is due, so that a holder whose statement takes long keeps its lock.
 */
const makeCheck = (dataDir: string, path: string, { token }: Holder): (() => void) => {
  const identity = identityOf(path)
  let touchedMs = -Infinity

  const isHeld = (): boolean => {
    try {
      return (JSON.parse(readFileSync(path, "utf8")) as Partial<Holder>).token === token
    } catch {
      // A process may have no descriptor left to open the file with.
      return identityOf(path) === identity
    }
  }

  return () => {
    const isDue = performance.now() - touchedMs >= touchEveryMs
    // Network file systems answer from memory which file it is, and ask the server when it is opened. After a pause, touching is due.
    if (!isDue && identityOf(path) === identity) return
    if (!isHeld()) end(dataDir, read(path))
    if (!isDue) return
    touchedMs = performance.now()
    // A lock that cannot be touched is held until another process takes it.
    Result.try(() => utimesSync(path, new Date(), new Date()))
  }
}

/**
 * Locks a data directory, which it creates if necessary, for as long as the scope lasts. Returns what has to be called before each
 * change of the directory, which ends the process if the lock was lost.
 */
export const acquire = (dataDir: string): Effect.Effect<() => void, DataDirInUse | DeploymentError, Scope.Scope> =>
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

    // Of two that write at once, the later one has the lock. A former holder that has just checked its lock finishes its change.
    yield* Effect.sleep("50 millis")
    const check = makeCheck(dataDir, path, self)
    const after = read(path)
    if (after !== undefined && after.token !== token) return yield* inUse(dataDir, after)
    yield* removeDrafts(dataDir)

    yield* Effect.sync(check).pipe(Effect.ignoreCause, Effect.repeat(Schedule.spaced("1 second")), Effect.forkScoped)
    return check
  })
