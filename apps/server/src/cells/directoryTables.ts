/** The tables of the directory, as commands read and write them in the control cell. */
import { Ids } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { bucketOf } from "./movedTables.ts"

const symbols = Ids.alphabet.split("")

/** All buckets. */
const buckets: ReadonlyArray<string> = symbols.flatMap((a) => symbols.map((b) => a + b))

/** A cell of the directory. */
export interface Cell {
  readonly name: string
  readonly is_control: boolean
  readonly url: string
  readonly buckets: number
  readonly organizations: number
}

/** Reads the cells, the control cell first. */
export const cells: Effect.Effect<ReadonlyArray<Cell>, SqlError.SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Cell>`
    SELECT name, is_control, url,
           (SELECT count(*)::int FROM cell_buckets WHERE cell = name) AS buckets,
           (
             SELECT count(*)::int FROM organizations JOIN cell_buckets ON bucket = ${sql.literal(bucketOf("organization", "organizations.id"))}
             WHERE cell = cells.name
           ) AS organizations
    FROM cells ORDER BY is_control DESC, name
  `
)

/** Adds a cell, or replaces its URL. */
export const putCell = (cell: Pick<Cell, "name" | "is_control" | "url">) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO cells (name, is_control, url) VALUES (${cell.name}, ${cell.is_control}, ${cell.url})
      ON CONFLICT ON CONSTRAINT cells_pkey DO UPDATE SET url = excluded.url
    `
  )

/** Gives the buckets that no cell has to this one. */
export const putBuckets = (cell: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO cell_buckets (bucket, cell) SELECT bucket, ${cell} FROM unnest(${buckets}::text[]) AS bucket
      ON CONFLICT DO NOTHING
    `
  )

/**
 * Gives a cell buckets without organizations, from cells that have more than an equal share, until it has an equal share. A
 * bucket with organizations stays where it is: their rows would have to move.
 */
export const giveEmptyBuckets = (cell: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly bucket: string }>`
      WITH share AS (
        SELECT (SELECT count(*) FROM cell_buckets) / count(*) AS buckets FROM cells
      ), spare AS (
        SELECT bucket FROM (
          SELECT bucket, row_number() OVER (PARTITION BY cell ORDER BY EXISTS (
            SELECT FROM organizations WHERE ${sql.literal(bucketOf("organization", "organizations.id"))} = bucket
          ) DESC, bucket) AS place
          FROM cell_buckets WHERE cell <> ${cell}
        ) AS ranked, share
        WHERE place > share.buckets AND NOT EXISTS (SELECT FROM organizations WHERE ${sql.literal(bucketOf("organization", "organizations.id"))} = bucket)
        ORDER BY place DESC
        LIMIT greatest(0, (SELECT buckets FROM share) - (SELECT count(*) FROM cell_buckets WHERE cell = ${cell}))
      )
      UPDATE cell_buckets SET cell = ${cell} FROM spare WHERE spare.bucket = cell_buckets.bucket
      RETURNING cell_buckets.bucket
    `
  )

/** Reads the cell of each bucket. */
export const bucketsOfCells: Effect.Effect<
  ReadonlyMap<string, string>,
  SqlError.SqlError,
  SqlClient.SqlClient
> = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ readonly bucket: string; readonly cell: string }>`SELECT bucket, cell FROM cell_buckets ORDER BY bucket`,
    (rows) => new Map(rows.map(({ bucket, cell }) => [bucket, cell]))
  )
)

/** Returns the cell of a bucket, if there is a directory. */
export const cellOf = (bucket: string): Effect.Effect<string | undefined, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ readonly cell: string }>`SELECT cell FROM cell_buckets WHERE bucket = ${bucket}`,
      ([row]) => row?.cell
    )
  )

/** The condition that a cell serves the organization of a column. True in a deployment that is not in cells. */
export const isServedBy = (sql: Statement.Constructor, cell: string | undefined, id: string): Statement.Fragment =>
  cell === undefined
    ? sql`true`
    : sql`EXISTS (SELECT FROM cell_buckets WHERE bucket = ${sql.literal(bucketOf("organization", id))} AND cell = ${cell})`
