import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// The state of live mode: sessions, submissions and calls of the national system (KSeF), which knows a taxpayer by its NIP.
//
// The invoice is the queue entry while it waits to be sent; its submission is from then on. Every call to the national system
// has its intent stored before it is made, so that the next holder of a lane knows what may have happened.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE INDEX organizations_credential_nip_idx ON organizations (credential_nip, id) WHERE credential_nip IS NOT NULL
  `

  // The environment that this database belongs to: one row, written by the first start in live mode.
  yield* sql`
    CREATE TABLE national_environment (
      is_only     boolean NOT NULL DEFAULT true,
      environment text NOT NULL,

      CONSTRAINT national_environment_pkey PRIMARY KEY (is_only),
      CONSTRAINT national_environment_one  CHECK (is_only)
    )
  `

  // A lane is the unit of work, because quota, sessions and blocks are of a taxpayer. `due_at` is the time from which a worker
  // may claim it: of a leased lane, when its lease expires. `fencing_token` is increased by every claim, and every statement
  // of a holder updates the lane under its token.
  //
  // `limits` are the effective ones, `used` the calls of the last hour, `blocked` until when calls are refused: all by the
  // groups of operations that the national system limits.
  yield* sql`
    CREATE TABLE national_lanes (
      nip           text COLLATE "C" NOT NULL,
      due_at        timestamptz,
      limits_at     timestamptz,
      fencing_token integer NOT NULL DEFAULT 0,
      is_leased     boolean NOT NULL DEFAULT false,
      limits        jsonb NOT NULL DEFAULT '{}',
      used          jsonb NOT NULL DEFAULT '{}',
      blocked       jsonb NOT NULL DEFAULT '{}',

      CONSTRAINT national_lanes_pkey       PRIMARY KEY (nip),
      CONSTRAINT national_lanes_nip_form   CHECK (nip ~ '^[0-9]{10}$'),
      CONSTRAINT national_lanes_leased_due CHECK (NOT is_leased OR due_at IS NOT NULL)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)
  `
  yield* sql`CREATE INDEX national_lanes_due_at_idx ON national_lanes (due_at, nip) WHERE due_at IS NOT NULL`

  // Tokens of the organization `id`, sealed. They are of the credential that was stored at `credential_updated_at`, and of no other.
  yield* sql`
    CREATE TABLE national_logins (
      id                    text COLLATE "C" NOT NULL,
      credential_updated_at timestamptz NOT NULL,
      access_valid_until    timestamptz NOT NULL,
      refresh_valid_until   timestamptz NOT NULL,
      access_token          bytea NOT NULL,
      refresh_token         bytea NOT NULL,

      CONSTRAINT national_logins_pkey    PRIMARY KEY (id),
      CONSTRAINT national_logins_id_fkey FOREIGN KEY (id) REFERENCES organizations (id)
    )
  `
  yield* sql`
    CREATE INDEX national_logins_access_token_key_idx
    ON national_logins (substring(access_token FROM 1 FOR 2 + get_byte(access_token, 1)), id)
  `
  yield* sql`
    CREATE INDEX national_logins_refresh_token_key_idx
    ON national_logins (substring(refresh_token FROM 1 FOR 2 + get_byte(refresh_token, 1)), id)
  `

  // `reference` is null until the answer to the opening is stored. `unreadable_since` is when the first of the reads failed
  // that no later one has succeeded after, because this login cannot read the session. The key of a session is in the memory
  // of the holder that opened it: no later holder can send in it.
  yield* sql`
    CREATE TABLE national_sessions (
      id              bigint GENERATED ALWAYS AS IDENTITY,
      organization_id text COLLATE "C" NOT NULL,
      nip             text COLLATE "C" NOT NULL,
      created_at      timestamptz NOT NULL,
      valid_until     timestamptz,
      due_at          timestamptz,
      unreadable_since timestamptz,
      code            integer,
      check_count     integer NOT NULL DEFAULT 0,
      document_count  integer NOT NULL DEFAULT 0,
      kind            text NOT NULL,
      form            text NOT NULL,
      state           text NOT NULL,
      reference       text,

      CONSTRAINT national_sessions_pkey                 PRIMARY KEY (id),
      CONSTRAINT national_sessions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
      CONSTRAINT national_sessions_kind_known           CHECK (kind IN ('online', 'batch')),
      CONSTRAINT national_sessions_state_known          CHECK (
        state IN ('opening', 'open', 'uploaded', 'closed', 'done', 'abandoned')
      ),
      CONSTRAINT national_sessions_opening_reference    CHECK (
        state IN ('opening', 'abandoned') OR reference IS NOT NULL
      )
    )
  `
  // Sessions that a holder has something left to do for.
  yield* sql`
    CREATE INDEX national_sessions_unfinished_idx ON national_sessions (nip, id)
    WHERE state NOT IN ('done', 'abandoned')
  `

  // One row for each document that was handed over, or may have been. `due_at` is when to look at it next: for its verdict,
  // and of an accepted one for its receipt. `stored_at` is when the national system stored it for good, where it said so. `original_session` has
  // the receipt where this copy was a duplicate of the accepted one.
  //
  // The unique index forbids a second submission of an invoice while the outcome of one is not known.
  yield* sql`
    CREATE TABLE national_submissions (
      id                 bigint GENERATED ALWAYS AS IDENTITY,
      session_id         bigint NOT NULL,
      invoice_id         text COLLATE "C" NOT NULL,
      nip                text COLLATE "C" NOT NULL,
      created_at         timestamptz NOT NULL,
      sent_at            timestamptz,
      due_at             timestamptz,
      stored_at          timestamptz,
      code               integer,
      check_count        integer NOT NULL DEFAULT 0,
      receipt_count      integer NOT NULL DEFAULT 0,
      state              text NOT NULL,
      reference          text,
      original_session   text,
      sha256             bytea NOT NULL,

      CONSTRAINT national_submissions_pkey            PRIMARY KEY (id),
      CONSTRAINT national_submissions_session_id_fkey FOREIGN KEY (session_id) REFERENCES national_sessions (id),
      CONSTRAINT national_submissions_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices (id),
      CONSTRAINT national_submissions_state_known     CHECK (state IN ('sending', 'sent', 'decided', 'absent', 'refused')),
      CONSTRAINT national_submissions_sha256_length   CHECK (length(sha256) = 32)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)
  `
  yield* sql`
    CREATE UNIQUE INDEX national_submissions_live_key ON national_submissions (invoice_id)
    WHERE state IN ('sending', 'sent')
  `
  // Other invoices with the same document, whose outcome is open.
  yield* sql`
    CREATE INDEX national_submissions_open_document_idx ON national_submissions (sha256)
    WHERE state IN ('sending', 'sent')
  `
  yield* sql`CREATE INDEX national_submissions_invoice_id_idx ON national_submissions (invoice_id, id)`
  yield* sql`CREATE INDEX national_submissions_session_id_idx ON national_submissions (session_id, id)`
  // The due work of a taxpayer, by the step of its lane: verdicts, receipts, and documents that are sent again. A row is in one of
  // them, and a step does not read what waits for another.
  yield* sql`
    CREATE INDEX national_submissions_verdicts_idx ON national_submissions (nip, due_at, invoice_id)
    WHERE due_at IS NOT NULL AND state IN ('sending', 'sent')
  `
  yield* sql`
    CREATE INDEX national_submissions_receipts_idx ON national_submissions (nip, due_at, invoice_id)
    WHERE due_at IS NOT NULL AND state = 'decided'
  `
  yield* sql`
    CREATE INDEX national_submissions_resends_idx ON national_submissions (nip, due_at, invoice_id)
    WHERE due_at IS NOT NULL AND state = 'refused'
  `
})
