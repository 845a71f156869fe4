/** The name and the parameters of sessions that serve requests. */
export const applicationName = "govoice"

/**
 * Ends statements that are stuck, and transactions whose client has gone silent: what they have locked is free again before a
 * request that waits for it gives up. A statement waits for a row that another session has locked for a shorter time, since it has a
 * connection that others need. Plans are not compiled: statements read few rows by an index, and Postgres, which decides by
 * an estimate, compiles for a second what takes a millisecond.
 */
export const sessionParameters = {
  statement_timeout: "8s",
  lock_timeout: "3s",
  idle_in_transaction_session_timeout: "8s",
  jit: "off"
}

/**
 * How long the client waits for the answer to a statement, in milliseconds: longer than the timeout of the database, which does
 * not cover a peer that has gone silent. The connection is destroyed then. TCP alone would take 15 minutes.
 */
export const deadlineMs = 10_000
