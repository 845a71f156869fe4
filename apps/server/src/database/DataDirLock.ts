/**
 * One process at a time on an embedded database: two would write over each other.
 *
 * The lock is a file that names its holder: host, process and when that process began. On the same host a holder that was
 * killed is known to be gone at once; on another, such as another container on the same volume, by a file that nobody has
 * touched for a while.
 *
 * @since 0.1.0
 */
import { Data, Effect, Result, Schedule, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"

/**
 * Another process works on this data directory.
 *
 * @category errors
 * @since 0.1.0
 */
export class DataDirInUse extends Data.TaggedError("DataDirInUse")<{
  readonly dataDir: string
  readonly holder: string
}> {
  override get message(): string {
    return `${this.dataDir} is in use by ${this.holder}: stop that first, or set GOVOICE_DATA_DIR to another directory`
  }
}

interface Holder {
  readonly host: string
  readonly pid: number
  /** When the process began, as its system counts; empty where that cannot be known. */
  readonly began: string
  /** Tells two holders apart that are the same in everything else, as in containers. */
  readonly token: string
}

const touchEvery = "5 seconds"
const forgottenAfterMs = 20_000

// Processes get the numbers of those that are gone. The 22nd field is the moment of the start (proc(5)).
const beganOf = (pid: number): string =>
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
  ["host", "began", "token"].every((name) => typeof (value as Record<string, unknown>)[name] === "string") &&
  Number.isSafeInteger((value as Record<string, unknown>)["pid"])

const read = (path: string): Holder | undefined => {
  const value = Result.getOrUndefined(Result.try((): unknown => JSON.parse(readFileSync(path, "utf8"))))
  return isHolder(value) ? value : undefined
}

const isAlive = (path: string, { began, host, pid }: Holder): boolean =>
  host === hostname()
    ? pid !== process.pid && exists(pid) && beganOf(pid) === began
    : Date.now() - statSync(path).mtimeMs < forgottenAfterMs

const taken = (dataDir: string, { host, pid }: Holder) =>
  new DataDirInUse({ dataDir, holder: host === hostname() ? `process ${pid}` : `process ${pid} on ${host}` })

/**
 * Takes a data directory for as long as the scope lasts.
 *
 * @category constructors
 * @since 0.1.0
 */
export const acquire = (dataDir: string): Effect.Effect<void, DataDirInUse, Scope.Scope> =>
  Effect.gen(function* () {
    const path = join(dataDir, "lock.json")
    const token = randomBytes(8).toString("hex")
    const mine: Holder = { host: hostname(), pid: process.pid, began: beganOf(process.pid), token }

    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const before = read(path)
    if (before !== undefined && isAlive(path, before)) return yield* taken(dataDir, before)

    yield* Effect.acquireRelease(
      Effect.sync(() => {
        writeFileSync(`${path}.${token}`, JSON.stringify(mine), { mode: 0o600 })
        renameSync(`${path}.${token}`, path)
      }),
      () => Effect.sync(() => read(path)?.token === token && rmSync(path))
    )

    // Of two that came at once, the one that wrote last has it.
    yield* Effect.sleep("50 millis")
    const after = read(path)
    if (after !== undefined && after.token !== token) return yield* taken(dataDir, after)

    yield* Effect.sync(() => utimesSync(path, new Date(), new Date())).pipe(
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced(touchEvery)),
      Effect.forkScoped
    )
  })
