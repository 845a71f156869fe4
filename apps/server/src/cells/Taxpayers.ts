/**
 * Which cell serves a taxpayer (NIP) in live mode. The limits of KSeF are counted there, so all organizations of a taxpayer live in
 * one cell, whichever of its contexts they have: each begins with the NIP.
 *
 * The table is in the control cell. A cell claims a taxpayer when KSeF has accepted a credential: anybody can store one. The taxpayer
 * stays there, also when its last credential is removed, until it moves.
 */
import { Data, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as PostgresClient from "../database/PostgresClient.ts"
import { sessionParameters, applicationName, deadlineMs } from "../database/sessionParameters.ts"
import * as ThrottledLog from "../observability/ThrottledLog.ts"
import { Settings } from "../settings/Settings.ts"

/** Claims the taxpayers of the accepted credentials that this database has, for its cell. */
export const claimStored = (cell: string): Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO cell_taxpayers (nip, cell)
      SELECT DISTINCT left(credential_context, 10), ${cell} FROM organizations WHERE credential_state = 'accepted'
      ON CONFLICT DO NOTHING
    `
  )

/** The control cell cannot be asked: no fault of the database of this cell, and no reason to take it out of service. */
export class ControlCellUnavailable extends Data.TaggedError("ControlCellUnavailable")<{ readonly cause: unknown }> {
  override readonly message = "The control cell cannot be asked."
}

/** The claims of the cell of this process. Each operation returns the other cell that serves a taxpayer, if one does. */
export interface Claims {
  readonly otherCellOf: (nip: string) => Effect.Effect<string | undefined, ControlCellUnavailable>
  /** Claims a taxpayer, unless another cell has. */
  readonly claim: (nip: string) => Effect.Effect<string | undefined, ControlCellUnavailable>
}

/** Makes the claims. A deployment that is not in cells has none. */
export const makeClaims = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { cell } = yield* Settings
  if (cell === undefined) return undefined
  const log = ThrottledLog.make({ down: "Control cell unavailable", recovered: "Control cell available again" })
  const onControl = <A>(run: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>) => {
    if (cell.controlDatabase === undefined) return Effect.orDie(Effect.provideService(run, SqlClient.SqlClient, sql))
    // Credentials are stored and accepted rarely: a connection for each is enough.
    const control = PostgresClient.layer(cell.controlDatabase, {
      applicationName,
      maxConnections: 1,
      parameters: sessionParameters,
      decidePlans: false,
      deadlineMs
    })
    return Effect.provide(run, control, { local: true }).pipe(
      Effect.tap(log.success),
      Effect.tapError(log.failure),
      Effect.mapError((cause) => new ControlCellUnavailable({ cause }))
    )
  }
  const find = (nip: string) =>
    Effect.flatMap(SqlClient.SqlClient, (control) =>
      Effect.map(control<{ readonly cell: string }>`SELECT cell FROM cell_taxpayers WHERE nip = ${nip}`, ([row]) =>
        row?.cell === cell.name ? undefined : row?.cell
      )
    )
  const insert = (nip: string) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (control) => control`INSERT INTO cell_taxpayers (nip, cell) VALUES (${nip}, ${cell.name}) ON CONFLICT DO NOTHING`
    )
  const claims: Claims = {
    otherCellOf: (nip) => onControl(find(nip)),
    claim: (nip) => onControl(Effect.andThen(insert(nip), find(nip)))
  }
  return claims
})
