/**
 * Statements of common table expressions (CTEs) as values, so that each CTE can be read, tested and documented alone. The
 * guide `how-delivery-works` is printed from them.
 */
import type { Statement } from "effect/sql"

/** A CTE of statements with the parameters `P`. */
export interface Cte<P> {
  readonly name: string
  /** Its effect, in one sentence. */
  readonly does: string
  /** The tables and the other CTEs that it reads or writes. */
  readonly reads: ReadonlyArray<string>
  /** The columns of its rows. Postgres compares them with the query. */
  readonly returns: ReadonlyArray<string>
  /** Whether Postgres evaluates it once and as it stands, rather than as a part of the query that reads it. */
  readonly materialized?: boolean
  readonly query: (sql: Statement.Constructor, parameters: P) => Statement.Fragment
}

/** A statement that is a list of CTEs and a query over them. */
export interface CteStatement<P> {
  readonly name: string
  /** Its effect, in one sentence. */
  readonly does: string
  /** In the order of their execution. */
  readonly ctes: ReadonlyArray<Cte<P>>
  readonly query: (sql: Statement.Constructor, parameters: P) => Statement.Fragment
}

const head = <P>({ materialized, name, returns }: Cte<P>): string =>
  `${name}${returns.length === 0 ? "" : ` (${returns.join(", ")})`} AS ${materialized === true ? "MATERIALIZED " : ""}`

/** Makes the statement for some parameters. Its CTEs may be recursive. */
export const make = <Row extends object, P>(
  sql: Statement.Constructor,
  { ctes, query }: CteStatement<P>,
  parameters: P
): Statement.Statement<Row> => {
  const list = ctes.map((cte) => sql`${sql.literal(head(cte))}(${cte.query(sql, parameters)})`)
  return sql<Row>`WITH RECURSIVE ${sql.csv(list)} ${query(sql, parameters)}`
}
