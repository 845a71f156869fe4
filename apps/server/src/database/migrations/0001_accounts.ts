import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// Identifiers are compared byte by byte (COLLATE "C"): that is their order by age, and the fastest comparison there is.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

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

  // A login is a family of refresh tokens: one is good at a time, and all end together.
  yield* sql`
    CREATE TABLE logins (
      id         text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      revoked_at timestamptz,

      CONSTRAINT logins_pkey            PRIMARY KEY (id),
      CONSTRAINT logins_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id)
    )
  `

  yield* sql`
    CREATE TABLE refresh_tokens (
      hash       bytea NOT NULL,
      login_id   text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      spent_at   timestamptz,

      CONSTRAINT refresh_tokens_pkey          PRIMARY KEY (hash),
      CONSTRAINT refresh_tokens_login_id_fkey FOREIGN KEY (login_id) REFERENCES logins (id),
      CONSTRAINT refresh_tokens_hash_length   CHECK (length(hash) = 32)
    )
  `
})
