/**
 * The directory of cells as a process of one of them knows it: which cell serves each bucket.
 *
 * Every process has it in memory, a second old at most. A deployment that is not in cells has no directory.
 */
import { Ids } from "@govoice/core"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { awaited } from "../database/awaited.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import * as CellRoutes from "./CellRoutes.ts"

/** How many buckets there are. */
export const bucketCount = 1024

/** A row of the control cell did not arrive here in time. The request may succeed later. */
export class RowNotReplicated extends Error {
  override readonly name = "RowNotReplicated"
}

interface DirectoryShape {
  /** Returns the cell that a request is for, if it is another one. */
  readonly otherCellOf: (method: string, path: string, authorization: string | undefined) => string | undefined
  /** Waits for a session that was opened in the control cell a moment ago. Dies with `RowNotReplicated`. */
  readonly awaitSession: (id: string) => Effect.Effect<void>
  /** Waits for the organization of a path that was created in the control cell a moment ago. Dies with `RowNotReplicated`. */
  readonly awaitOrganization: (method: string, path: string) => Effect.Effect<void>
}

/** The directory; `undefined` in a deployment that is not in cells. */
export const Directory = Context.Reference<DirectoryShape | undefined>("@govoice/server/cells/Directory", {
  defaultValue: () => undefined
})

interface Contents {
  /** The cell of each bucket. */
  readonly cells: ReadonlyMap<string, string>
  readonly control: string
}

interface Row {
  readonly name: string
  readonly is_control: boolean
  readonly buckets: ReadonlyArray<string>
}

const read: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Row>`
    SELECT name, is_control, ARRAY(SELECT bucket FROM cell_buckets WHERE cell = name) AS buckets FROM cells
  `
)

const toContents = (rows: ReadonlyArray<Row>): Contents => ({
  cells: new Map(rows.flatMap(({ buckets, name }) => buckets.map((bucket) => [bucket, name]))),
  control: rows.find(({ is_control }) => is_control)?.name ?? ""
})

type OwnCell = NonNullable<SettingsShape["cell"]>

const faultOf = ({ controlDatabase, name: cell }: OwnCell, rows: ReadonlyArray<Row>): string | undefined => {
  const isControl = controlDatabase === undefined
  const own = rows.find(({ name }) => name === cell)
  if (own === undefined) {
    return `The directory has no cell ${cell}. Run 'govoice cells ${isControl ? "init" : "add"}' with the settings of this process.`
  }
  if (own.is_control && !isControl) {
    return `Cell ${cell} is the control cell, and GOVOICE_CONTROL_DATABASE_URL is set. Remove one of them.`
  }
  if (!own.is_control && isControl) {
    return `Cell ${cell} is not the control cell. Set GOVOICE_CONTROL_DATABASE_URL to the control cell's database.`
  }
  return undefined
}

/** Why the directory and the settings of a process do not agree, or `undefined`: a sentence with the remedy. */
export const problem = (cell: OwnCell): Effect.Effect<string | undefined, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.map(read, (rows) => faultOf(cell, rows))

const refreshEvery = "1 second"
const pollEvery = "50 millis"
const waitMs = 2000

// An organization that was created longer ago is in every cell, or in none. One of the future is in none.
const freshMs = 60_000

const make = (own: OwnCell) =>
  Effect.gen(function* () {
    const { controlDatabase, name: cell } = own
    const isControl = controlDatabase === undefined
    const sql = yield* SqlClient.SqlClient
    const rows = yield* awaited(read)
    const fault = faultOf(own, rows)
    if (fault !== undefined) return yield* new DeploymentError({ message: fault })

    let contents = toContents(rows)
    // While the database does not answer, nothing is served that depends on what is known here.
    const refresh = Effect.matchEffect(read, {
      onFailure: (error) =>
        Effect.annotateLogs(Effect.logDebug("Directory of cells not read"), { reason: reasonOf(error) }),
      onSuccess: (found) => Effect.sync(() => void (contents = toContents(found)))
    })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(refreshEvery), refresh)))

    const awaitRow = (what: string, find: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) =>
      Effect.gen(function* () {
        const startedAt = yield* MonotonicTime.now
        while ((yield* Effect.orDie(find)).length === 0) {
          if ((yield* MonotonicTime.now) - startedAt >= waitMs) {
            return yield* Effect.die(new RowNotReplicated(`The ${what} has not arrived from the control cell`))
          }
          yield* Effect.sleep(pollEvery)
        }
      })

    return {
      otherCellOf: (method, path, authorization) => {
        const destination = CellRoutes.destinationOf(method, path, authorization)
        if (destination === undefined) return undefined
        const right = destination === "control" ? contents.control : contents.cells.get(destination.bucket)
        return right === cell ? undefined : right
      },

      awaitSession: (id) =>
        isControl ? Effect.void : awaitRow("session", sql`SELECT 1 FROM sessions WHERE id = ${id}`),

      awaitOrganization: Effect.fnUntraced(function* (method, path) {
        const id = isControl ? undefined : CellRoutes.organizationOf(method, path)
        if (id === undefined || Math.abs((yield* Clock.currentTimeMillis) - Ids.timestamp(id)) > freshMs) return
        yield* awaitRow("organization", sql`SELECT 1 FROM organizations WHERE id = ${id}`)
      })
    } satisfies DirectoryShape
  })

/** Provides the directory of the cell that the settings name, if they name one. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ cell }) => (cell === undefined ? Layer.empty : Layer.effect(Directory, make(cell))))
)
