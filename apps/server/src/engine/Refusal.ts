/**
 * Tells a statement that the database refuses from one that it could not carry out for now.
 *
 * @since 0.1.0
 */
import type { SqlError } from "effect/sql"

const refusals: ReadonlySet<string> = new Set(["UniqueViolation", "ConstraintError", "SqlSyntaxError"])

const sqlState = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : ""

/**
 * Whether the same statement would be refused again: a constraint, a value that does not fit (SQLSTATE 21, 22), a mistake
 * in the statement itself. Everything else is taken for an outage.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = ({ reason }: SqlError.SqlError): boolean =>
  refusals.has(reason._tag) || /^2[12]/.test(sqlState(reason.cause))
