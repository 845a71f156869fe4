/** The networks that logins come from, over all accounts. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** A network, and how many accounts logged in from it. */
export interface LoginNetwork {
  /** As `ClientAddress.group` returns it. */
  readonly network: string
  readonly accounts: number
}

/** Returns the network that all logins of the last seven days came from, or `undefined` if there are none or several. */
export const findOnly: Effect.Effect<LoginNetwork | undefined, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const networks = yield* sql<LoginNetwork>`
      SELECT network, count(DISTINCT account_id)::int AS accounts FROM sessions
      WHERE created_at > clock_timestamp() - interval '7 days'
      GROUP BY network LIMIT 2
    `
    return networks.length === 1 ? networks[0] : undefined
  }
)
