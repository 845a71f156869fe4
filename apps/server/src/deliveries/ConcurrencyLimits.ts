/** How many deliveries an organization may have in flight: the limit of the deployment, or one of its own. */
import type { Ids } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** The most that a limit may be. */
export const maxLimit = 10_000

/** Returns the limit of an organization. `limit` is that of the deployment. A limit of zero holds one that moves to another cell. */
export const read = (
  id: Ids.OrganizationId,
  limit: number
): Effect.Effect<number, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly max_in_flight: number | null }>`
      SELECT max_in_flight FROM organization_concurrency WHERE organization_id = ${id}
    `
    return row?.max_in_flight || limit
  })

/**
 * Sets the limit of an organization, or removes it, and returns whether it did: not of one that moves to another cell. The caller
 * checks that there is such an organization.
 */
export const set = (
  id: Ids.OrganizationId,
  limit: number | null
): Effect.Effect<boolean, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const written = yield* sql`
      INSERT INTO organization_concurrency (organization_id, max_in_flight) VALUES (${id}, ${limit}::int)
      ON CONFLICT (organization_id) DO UPDATE SET max_in_flight = EXCLUDED.max_in_flight
      WHERE organization_concurrency.max_in_flight IS DISTINCT FROM 0
      RETURNING 1
    `
    return written.length > 0
  })
