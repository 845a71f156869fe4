/** Classifies SQL errors, for the API and the workers alike: each is either transient or permanent. */
import { SqlError } from "effect/sql"

// Classes and codes of PostgreSQL's appendix A: lost or refused connections, missing rights and databases, rollbacks that
// a retry resolves, resources, locks, operator intervention, system errors, and databases that are read-only for now.
const transientStates = /^(?:08|28|3D|40(?!002)|42501|53|55(?:000|006|P03)|57|58|F0|25(?:006|P03|P04))/

/** Returns the SQLSTATE that the server reported, or an empty string. */
export const sqlState = ({ reason: { cause } }: SqlError.SqlError): string =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : ""

// It has the SQLSTATE of a constraint.
const isPartitionMissing = ({ reason: { cause } }: SqlError.SqlError): boolean =>
  typeof cause === "object" && cause !== null && "routine" in cause && cause.routine === "ExecFindPartition"

/**
 * Tells whether the same statement may succeed later: the database is unreachable, overloaded, read-only, configured so that it
 * refuses this client, or has no partition for the current week, which workers make.
 *
 * A failure to connect is always transient: no change to the statement would help, and an operator's change would.
 */
export const isTransient = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) &&
  (error.isRetryable ||
    error.reason.operation === "connect" ||
    transientStates.test(sqlState(error)) ||
    isPartitionMissing(error))

/** Tells whether the same statement would fail again: a constraint, a value, or a mistake in the statement. */
export const isPermanent = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && !isTransient(error)

/** The SQLSTATE of a write to an organization that moves to another cell, or has moved. */
export const movedState = "GV001"

/** Tells whether a statement was refused because the organization moves to another cell, or has moved. */
export const isMoved = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && sqlState(error) === movedState

/** Tells whether a lock was not free within the time that the statement waits for it. */
export const isLockTimeout = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && sqlState(error) === "55P03"

/** Tells whether a statement was ended because it and another waited for each other. */
export const isDeadlock = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && sqlState(error) === "40P01"

/** Tells whether the disk of the database is full. */
export const isDiskFull = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && sqlState(error) === "53100"

/** Tells whether a statement had no answer, not even that of the timeout of the database. */
export const isSilent = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && error.reason._tag === "StatementTimeoutError" && sqlState(error) === ""

// Socket errors, and what a server answers while it starts, stops, has no connection left, or is a replica.
const unreachableCodes = /^(?:ECONN|EHOST|ENET|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|ENOENT$|08(?!P01)|25006|53300|57P)/

// The driver gives these no code.
const unreachableMessages = /timed out|closed/

const codesOf = (cause: unknown): ReadonlyArray<string> =>
  cause instanceof AggregateError
    ? cause.errors.flatMap(codesOf)
    : typeof cause === "object" && cause !== null && "code" in cause
      ? [String(cause.code)]
      : []

// A connection that failed in a way that passes without an operator, as while the server starts.
const isUnreachable = ({ reason }: SqlError.SqlError): boolean => {
  if (reason.operation !== "connect" && reason._tag !== "ConnectionError") return false
  const codes = codesOf(reason.cause)
  return codes.length === 0
    ? unreachableMessages.test(reason.message ?? "")
    : codes.some((code) => unreachableCodes.test(code))
}

/** Tells whether an error passes without an operator: the database is unreachable or silent, or another session has a lock. */
export const isPassing = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && (isUnreachable(error) || (error.isRetryable && error.reason._tag !== "ConnectionError"))
