/** Checks what a session cannot correct: the encoding of the database, and the isolation of transactions behind a pooler. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { DeploymentError } from "../settings/DeploymentError.ts"

interface Row {
  readonly database: string
  readonly user: string
  readonly encoding: string
  readonly isolation: string
}

const expectedEncoding = "UTF8"
const expectedIsolation = "read committed"

/** Why the server cannot work with this database, or `undefined`. */
export const fault: Effect.Effect<DeploymentError | undefined, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<Row>`
      SELECT current_database() AS database, current_user AS "user", current_setting('server_encoding') AS encoding,
             current_setting('default_transaction_isolation') AS isolation
    `
    const { database, encoding, isolation, user } = row!
    if (encoding !== expectedEncoding) {
      return new DeploymentError({
        message: `The database ${database} has the encoding ${encoding}, expected ${expectedEncoding}: invoices have letters that it cannot store. Create one with CREATE DATABASE ${database} ENCODING 'UTF8' TEMPLATE template0, and move the data there.`
      })
    }
    if (isolation !== expectedIsolation) {
      return new DeploymentError({
        message: `Transactions are ${isolation} by default, expected ${expectedIsolation}, and a pooler does not let a session set it. Run: ALTER ROLE "${user}" IN DATABASE "${database}" SET default_transaction_isolation = '${expectedIsolation}', and restart the pooler.`
      })
    }
    return undefined
  }
)
