/**
 * Postgres inside the process: PGlite, spoken to in the wire protocol by the same driver as any other Postgres.
 *
 * The driver wants a stream to a server. `connect` gives it one whose other end is the database in this process: what is
 * written goes to the database a chunk at a time, and what the database answers can be read.
 *
 * @since 0.1.0
 */
import { PGlite } from "@electric-sql/pglite"
import { Effect, type Scope } from "effect"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { Duplex } from "node:stream"

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

/**
 * Opens the database in `dataDir`, or in memory without one, for as long as the scope lasts.
 *
 * **Details**
 *
 * The database has one session, so there can be one connection at a time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = (dataDir: string | undefined): Effect.Effect<() => Duplex, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      if (dataDir !== undefined) mkdirSync(dirname(dataDir), { recursive: true })
      return PGlite.create(dataDir === undefined ? {} : { dataDir })
    }),
    (database) => Effect.promise(() => database.close())
  ).pipe(Effect.map((database) => () => new Connection(database)))
