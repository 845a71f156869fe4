import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// The owner leads the indexes that requests use, because it leads their queries.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE organizations (
      id                     text COLLATE "C" NOT NULL,
      account_id             text COLLATE "C" NOT NULL,
      created_at             timestamptz NOT NULL,
      name                   text NOT NULL,
      credential             bytea,
      credential_kind        text,
      credential_environment text,
      credential_nip         text,
      credential_expires_at  timestamptz,
      credential_state       text,
      credential_checked_at  timestamptz,
      credential_refusal     jsonb,
      credential_updated_at  timestamptz,
      credential_refusals    integer NOT NULL DEFAULT 0,

      CONSTRAINT organizations_pkey             PRIMARY KEY (id),
      CONSTRAINT organizations_account_id_fkey  FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT organizations_credential_whole CHECK (
        num_nonnulls(credential, credential_kind, credential_nip, credential_state, credential_updated_at) IN (0, 5)
        AND (credential IS NOT NULL OR num_nonnulls(
          credential_environment, credential_expires_at, credential_checked_at, credential_refusal
        ) = 0)
      ),
      CONSTRAINT organizations_credential_kind_known  CHECK (credential_kind IN ('ksef_token', 'certificate')),
      CONSTRAINT organizations_credential_state_known CHECK (credential_state IN ('unchecked', 'accepted', 'refused')),
      CONSTRAINT organizations_credential_refusal     CHECK (credential_refusal IS NULL OR credential_state = 'refused')
    )
  `
  yield* sql`CREATE INDEX organizations_account_id_id_idx ON organizations (account_id, id DESC)`
  // Sealed values by the key that sealed them: version, length of its id, and id are their first bytes.
  yield* sql`
    CREATE INDEX organizations_credential_key_idx
    ON organizations (substring(credential FROM 1 FOR 2 + get_byte(credential, 1)), id) WHERE credential IS NOT NULL
  `

  yield* sql`
    CREATE TABLE api_keys (
      id              text COLLATE "C" NOT NULL,
      organization_id text COLLATE "C" NOT NULL,
      created_at      timestamptz NOT NULL,
      expires_at      timestamptz,
      revoked_at      timestamptz,
      mode            text NOT NULL,
      last4           text NOT NULL,
      name            text,
      hash            bytea NOT NULL,

      CONSTRAINT api_keys_pkey                 PRIMARY KEY (id),
      CONSTRAINT api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
      CONSTRAINT api_keys_hash_key             UNIQUE (hash),
      CONSTRAINT api_keys_hash_length          CHECK (length(hash) = 32),
      CONSTRAINT api_keys_mode_known           CHECK (mode IN ('test', 'live'))
    )
  `
  yield* sql`
    CREATE INDEX api_keys_organization_id_id_idx ON api_keys (organization_id, id DESC) WHERE revoked_at IS NULL
  `

  // Keys that were revoked or expire, for the pruner.
  yield* sql`
    CREATE INDEX api_keys_ended_idx ON api_keys (least(revoked_at, expires_at))
    WHERE least(revoked_at, expires_at) IS NOT NULL
  `

  yield* sql`
    CREATE TABLE webhook_endpoints (
      id                text COLLATE "C" NOT NULL,
      organization_id   text COLLATE "C" NOT NULL,
      created_at        timestamptz NOT NULL,
      updated_at        timestamptz NOT NULL,
      deleted_at        timestamptz,
      next_secret_at    timestamptz,
      enabled           boolean NOT NULL,
      standard_webhooks boolean NOT NULL DEFAULT false,
      url               text NOT NULL,
      description       text,
      event_types       text[] NOT NULL,
      secret            bytea NOT NULL,
      next_secret       bytea,

      CONSTRAINT webhook_endpoints_pkey                 PRIMARY KEY (id),
      CONSTRAINT webhook_endpoints_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
      CONSTRAINT webhook_endpoints_event_types_not_none CHECK (cardinality(event_types) > 0),
      CONSTRAINT webhook_endpoints_next_secret_whole    CHECK ((next_secret IS NULL) = (next_secret_at IS NULL))
    )
  `
  yield* sql`
    CREATE INDEX webhook_endpoints_organization_id_id_idx ON webhook_endpoints (organization_id, id DESC)
    WHERE deleted_at IS NULL
  `
  yield* sql`
    CREATE INDEX webhook_endpoints_deleted_at_id_idx ON webhook_endpoints (deleted_at, id) WHERE deleted_at IS NOT NULL
  `
  yield* sql`
    CREATE INDEX webhook_endpoints_secret_key_idx
    ON webhook_endpoints (substring(secret FROM 1 FOR 2 + get_byte(secret, 1)), id)
  `
  yield* sql`
    CREATE INDEX webhook_endpoints_next_secret_key_idx
    ON webhook_endpoints (substring(next_secret FROM 1 FOR 2 + get_byte(next_secret, 1)), id)
    WHERE next_secret IS NOT NULL
  `
})
