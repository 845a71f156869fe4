/** Postgres inside the process: PGlite, which the driver reaches over the wire protocol like any other Postgres. */
import { PGlite } from "@electric-sql/pglite"
import { Effect, identity, type Scope } from "effect"
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Duplex } from "node:stream"
import * as DataDirectory from "../settings/DataDirectory.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"
import { writeFiles } from "./prepared/directory.ts"
import type { Files } from "./prepared/Pack.ts"
import { PreparedMemoryFS } from "./prepared/PreparedMemoryFS.ts"
import { DurableNodeFS, makePrivate, sync, syncAll, syncParameters } from "./DurableNodeFS.ts"

/** A stream to the database: each chunk written is executed, and the response can be read. */
class Connection extends Duplex {
  private readonly database: PGlite

  constructor(database: PGlite) {
    super({ allowHalfOpen: false })
    this.database = database
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    const pieces: Array<Uint8Array> = []
    // `execProtocolRaw` would keep each message that it returns, parsed, for as long as the database is open. A piece is a part of
    // the memory of the database.
    const onRawData = (piece: Uint8Array): void => void pieces.push(piece.slice())
    this.database.execProtocolRawStream(chunk, { onRawData }).then(
      () => {
        for (const piece of pieces) this.push(piece)
        done()
      },
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error)))
    )
  }
}

// Exists while a database is created. A process that is killed meanwhile leaves files that cannot be opened.
const markerOf = (directory: string): string => `${directory}.incomplete`

/** Tells whether a directory has a database. */
export const exists = (directory: string): boolean =>
  existsSync(join(directory, "PG_VERSION")) && !existsSync(markerOf(directory))

// A new segment of the log is written in full. More buffers would be resident: WebAssembly fills what it allocates.
const initDbStartParams = ["--wal-segsize=1"]
const parameters = [...PGlite.defaultStartParams, "-c", "shared_buffers=32MB"]

/** How new databases are created. */
export const creation = { initDbStartParams, startParams: [...parameters, "-c", "wal_recycle=off"] }

type FindFiles = Effect.Effect<Files | undefined>

/**
 * Ends the process when Postgres ends, as after a panic: it could not write its log, for example. PGlite would call it again and
 * again without a pause, and the process would answer nothing any more. What was committed is stored; the next start recovers it.
 */
const endWithPostgres = (database: PGlite): PGlite => {
  const module = database.Module
  // Private: what the loop throws after a statement that failed.
  const longJump: unknown = database["POSTGRES_MAIN_LONGJMP"]
  const runOnce = module._PostgresMainLoopOnce
  module._PostgresMainLoopOnce = () => {
    try {
      runOnce()
    } catch (error) {
      if ((error as { readonly status?: unknown }).status === longJump) throw error
      process.stderr.write(
        `The embedded Postgres has ended (${String(error)}), and this process with it. What was accepted is stored. ` +
          "Check that its disk has free space, and start again.\n"
      )
      process.exit(1)
    }
  }
  return database
}

const inMemory = async (files: Files | undefined): Promise<PGlite> =>
  endWithPostgres(
    await PGlite.create({
      ...(files === undefined ? { initDbStartParams } : { fs: new PreparedMemoryFS(files) }),
      startParams: parameters
    })
  )

const openExisting = async (directory: string, beforeChange: () => void): Promise<PGlite> => {
  makePrivate(directory)
  const fs = new DurableNodeFS(directory, beforeChange)
  return endWithPostgres(await PGlite.create({ fs, initDbStartParams, startParams: syncParameters(parameters) }))
}

const create = async (directory: string, files: Files | undefined, beforeChange: () => void): Promise<PGlite> => {
  const marker = markerOf(directory)
  writeFileSync(marker, "", { mode: 0o600 })
  if (files !== undefined) writeFiles(directory, files)
  const database = await openExisting(directory, beforeChange)
  await database.exec("CHECKPOINT")
  syncAll(directory)
  rmSync(marker)
  sync(dirname(directory))
  return database
}

/** Creates the directory if necessary, and tells whether it is empty. Removes what a killed process left. */
const prepare = (directory: string): boolean => {
  if (existsSync(markerOf(directory))) rmSync(directory, { recursive: true, force: true })
  DataDirectory.ensure(directory)
  return readdirSync(directory).length === 0
}

const isOfFileSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "syscall" in error && "code" in error

const toDeploymentError = (directory: string | undefined, error: unknown): DeploymentError => {
  if (error instanceof DeploymentError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const remedy = isOfFileSystem(error)
    ? DataDirectory.remedyOf(error)
    : "Restore it from a backup, or move it away to start with an empty database."
  return new DeploymentError({
    message: `The embedded Postgres cannot open ${directory ?? "its memory"} (${reason}). ${remedy}`
  })
}

/** The constructor of connections to an open database. */
export const connector =
  (database: PGlite): (() => Duplex) =>
  () =>
    new Connection(database)

const tryPromise = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: identity })

const openWith = (
  directory: string | undefined,
  findFiles: FindFiles,
  beforeChange: () => void
): Effect.Effect<PGlite, unknown> =>
  Effect.gen(function* () {
    if (directory === undefined) {
      const files = yield* findFiles
      return yield* tryPromise(() => inMemory(files))
    }
    if (!(yield* Effect.try({ try: () => prepare(directory), catch: identity })))
      return yield* tryPromise(() => openExisting(directory, beforeChange))
    const files = yield* findFiles
    return yield* tryPromise(() => create(directory, files, beforeChange))
  })

/**
 * Opens the database in a directory, or in memory without one, for as long as the scope lasts. A new one has the files that
 * `findFiles` finds, or those of `initdb`. `beforeChange` is called before each change of a file in the directory.
 *
 * Returns the constructor of its connection. The database has one session, so one connection can be open at a time.
 */
export const open = (
  directory: string | undefined,
  findFiles: FindFiles,
  beforeChange: () => void = () => {}
): Effect.Effect<() => Duplex, DeploymentError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.mapError(openWith(directory, findFiles, beforeChange), (error) => toDeploymentError(directory, error)),
    (database) => Effect.promise(() => database.close())
  ).pipe(Effect.map(connector))
