/**
 * Which cell serves a taxpayer (NIP) in live mode. The limits of KSeF are counted there, so all organizations of a taxpayer live in
 * one cell.
 *
 * The table is in the control cell. A taxpayer stays with its cell, also when its last credential is removed, until it moves.
 */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as PostgresClient from "../database/PostgresClient.ts"
import { sessionParameters, applicationName, deadlineMs } from "../database/sessionParameters.ts"
import { Settings } from "../settings/Settings.ts"

/** Claims the taxpayers of the credentials that this database has, for its cell. */
export const claimStored = (cell: string): Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO cell_taxpayers (nip, cell)
      SELECT DISTINCT credential_nip, ${cell} FROM organizations WHERE credential_nip IS NOT NULL
      ON CONFLICT DO NOTHING
    `
  )

const claim = (nip: string, cell: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO cell_taxpayers (nip, cell) VALUES (${nip}, ${cell}) ON CONFLICT DO NOTHING`
    const [row] = yield* sql<{ readonly cell: string }>`SELECT cell FROM cell_taxpayers WHERE nip = ${nip}`
    return row === undefined || row.cell === cell ? undefined : row.cell
  })

/**
 * Makes the claim of a taxpayer for the cell of this process. It returns the other cell that serves the taxpayer, if one does. A
 * deployment that is not in cells has no claims.
 */
export const makeClaim = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { cell } = yield* Settings
  if (cell === undefined) return undefined
  return (nip: string): Effect.Effect<string | undefined, SqlError.SqlError> => {
    const claimed = claim(nip, cell.name)
    if (cell.controlDatabase === undefined) return Effect.provideService(claimed, SqlClient.SqlClient, sql)
    // Credentials are stored rarely: a connection for each is enough.
    const control = PostgresClient.layer(cell.controlDatabase, {
      applicationName,
      maxConnections: 1,
      parameters: sessionParameters,
      decidePlans: false,
      deadlineMs
    })
    return Effect.provide(claimed, control, { local: true })
  }
})
