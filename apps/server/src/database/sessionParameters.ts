/** The name and the parameters of sessions that serve requests. */
export const applicationName = "govoice"

// Ends statements that are stuck and transactions that were abandoned. Requests wait a little longer than a statement, and
// are answered with service_unavailable then.
export const sessionParameters = {
  statement_timeout: "10s",
  idle_in_transaction_session_timeout: "30s"
}
