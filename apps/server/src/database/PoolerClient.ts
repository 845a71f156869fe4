/**
 * The client of a pooler such as PgBouncer, where each transaction may run in another session of Postgres.
 *
 * It keeps nothing in a session: statements have no name, parameters are set for one transaction, and LISTEN uses a connection
 * to Postgres itself. Without such a connection no notification arrives, and workers find their work when they poll.
 */
import { PgClient, type PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Queue, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"

export interface Options {
  readonly pool: PgClient.PgPoolConfig
  /** How Postgres itself is reached, for LISTEN. */
  readonly direct: PgClient.PgClientConfig | undefined
  /** Parameters of Postgres, set at the beginning of each transaction. */
  readonly parameters: Readonly<Record<string, string>>
  /** Whether a statement outside a transaction needs them too: it runs in a transaction of its own then. */
  readonly wrapStatements: boolean
}

/** Makes the statement that sets parameters until the end of the transaction. */
const setParameters = (parameters: Options["parameters"]) => {
  const values = Object.entries(parameters).flat()
  const calls = Object.keys(parameters).map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`)
  return (connection: SqlConnection.Connection) => connection.executeRaw(`SELECT ${calls.join()}`, values)
}

// `withTransaction` of the client would turn the failure to roll back over a lost connection into a defect.
const inOwnTransaction = (
  { reserve }: SqlClient.SqlClient,
  begin: (connection: SqlConnection.Connection) => Effect.Effect<unknown, SqlError.SqlError>
): SqlConnection.Borrower => {
  return (run) =>
    Effect.scoped(
      Effect.flatMap(reserve, (connection) =>
        Effect.acquireUseRelease(
          connection.executeRaw("BEGIN", []),
          () => Effect.andThen(begin(connection), run(connection)),
          (_, exit) =>
            Exit.isSuccess(exit)
              ? Effect.asVoid(connection.executeRaw("COMMIT", []))
              : Effect.ignore(connection.executeRaw("ROLLBACK", []))
        )
      )
    )
}

const wrapped = Effect.fnUntraced(function* (
  pg: PgClient.PgClient,
  begin: (connection: SqlConnection.Connection) => Effect.Effect<unknown, SqlError.SqlError>
) {
  const client = yield* SqlClient.make({
    driver: pg.driver,
    // For streams, which the server does not use.
    acquirer: pg.reserve,
    borrower: inOwnTransaction(pg, begin),
    transactionAcquirer: pg.reserve,
    compiler: PgClient.makeCompiler(),
    spanAttributes: []
  })
  const { config, json, listen, notify } = pg
  const stats = pg.poolStats === undefined ? {} : { poolStats: pg.poolStats }
  return Object.assign(client, { [PgClient.TypeId]: PgClient.TypeId, config, json, listen, notify, ...stats })
})

/** Makes a client with a pool of connections to the pooler. */
export const make: (
  options: Options
) => Effect.Effect<PgClient.PgClient, SqlError.SqlError, Scope.Scope | Reactivity.Reactivity> = Effect.fnUntraced(
  function* ({ direct, parameters, pool, wrapStatements }) {
    const reactivity = yield* Reactivity.Reactivity
    const begin = setParameters(parameters)
    const pg = yield* PgClient.make({ ...pool, prepare: false })
    const client: PgClient.PgClient = wrapStatements ? yield* wrapped(pg, begin) : pg
    const { transactionService, withTransaction } = client

    const beginIfOutermost = Effect.flatMap(transactionService, ([connection, depth]) =>
      depth === 0 ? begin(connection) : Effect.void
    )
    return Object.assign(client, {
      withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        withTransaction(Effect.andThen(beginIfOutermost, effect)) as Effect.Effect<A, E | SqlError.SqlError, R>,
      listen: (channel: string) =>
        direct === undefined
          ? Queue.make<PgConnection.Notification, SqlError.SqlError>()
          : Effect.flatMap(PgClient.makeClient(direct), (session) => session.listen(channel)).pipe(
              Effect.provideService(Reactivity.Reactivity, reactivity)
            )
    })
  }
)
