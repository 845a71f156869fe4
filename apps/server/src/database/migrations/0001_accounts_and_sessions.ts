import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// Identifiers are compared byte by byte (COLLATE "C"): that is their order by age, and the fastest comparison.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `email` is normalized: lower case, without surrounding white space.
  yield* sql`
    CREATE TABLE accounts (
      id            text COLLATE "C" NOT NULL,
      created_at    timestamptz NOT NULL,
      email         text NOT NULL,
      password_hash text NOT NULL,

      CONSTRAINT accounts_pkey      PRIMARY KEY (id),
      CONSTRAINT accounts_email_key UNIQUE (email)
    )
  `

  // A session is a family of refresh tokens: one is valid at a time, and all end together. `network` is where the login
  // came from: an IPv4 address, or an IPv6 prefix of 64 bits.
  yield* sql`
    CREATE TABLE sessions (
      id         text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      revoked_at timestamptz,
      network    text NOT NULL,

      CONSTRAINT sessions_pkey            PRIMARY KEY (id),
      CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id)
    )
  `
  yield* sql`CREATE INDEX sessions_account_id_network_idx ON sessions (account_id, network)`

  yield* sql`
    CREATE TABLE refresh_tokens (
      hash       bytea NOT NULL,
      session_id text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      spent_at   timestamptz,

      CONSTRAINT refresh_tokens_pkey            PRIMARY KEY (hash),
      CONSTRAINT refresh_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions (id),
      CONSTRAINT refresh_tokens_hash_length     CHECK (length(hash) = 32)
    )
  `
  // For the pruner: expired tokens, and whether a session has any left.
  yield* sql`CREATE INDEX refresh_tokens_expires_at_idx ON refresh_tokens (expires_at)`
  yield* sql`CREATE INDEX refresh_tokens_session_id_idx ON refresh_tokens (session_id)`
})
