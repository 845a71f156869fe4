/** Postgres inside the process: PGlite, which the driver reaches over the wire protocol like any other Postgres. */
import { PGlite } from "@electric-sql/pglite"
import { Effect, type Scope } from "effect"
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Duplex } from "node:stream"
import * as DataDirectory from "../settings/DataDirectory.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"
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
    this.database.execProtocolRaw(chunk).then(
      (answer) => {
        if (answer.length > 0) this.push(answer)
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

const openFiles = async (directory: string): Promise<PGlite> => {
  const marker = markerOf(directory)
  if (existsSync(marker)) rmSync(directory, { recursive: true, force: true })
  DataDirectory.ensure(directory)
  const isNew = readdirSync(directory).length === 0
  if (isNew) writeFileSync(marker, "", { mode: 0o600 })
  makePrivate(directory)

  const database = await PGlite.create({
    fs: new DurableNodeFS(directory),
    startParams: syncParameters(PGlite.defaultStartParams)
  })
  if (!isNew) return database
  await database.exec("CHECKPOINT")
  syncAll(directory)
  rmSync(marker)
  sync(dirname(directory))
  return database
}

const toDeploymentError = (directory: string | undefined, error: unknown): DeploymentError => {
  if (error instanceof DeploymentError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new DeploymentError({
    message: `The embedded Postgres cannot open ${directory ?? "its memory"} (${reason}). Restore it from a backup, or move it away to start with an empty database.`
  })
}

/** The constructor of connections to an open database. */
export const connector =
  (database: PGlite): (() => Duplex) =>
  () =>
    new Connection(database)

/**
 * Opens the database in a directory, or in memory without one, for as long as the scope lasts.
 *
 * Returns the constructor of its connection. The database has one session, so one connection can be open at a time.
 */
export const open = (directory: string | undefined): Effect.Effect<() => Duplex, DeploymentError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => (directory === undefined ? PGlite.create() : openFiles(directory)),
      catch: (error) => toDeploymentError(directory, error)
    }),
    (database) => Effect.promise(() => database.close())
  ).pipe(Effect.map(connector))
