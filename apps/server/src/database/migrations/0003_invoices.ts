import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// `due_at` says when a worker may act: for a claimed invoice that is when its lease runs out. It is null when nothing is
// left to do. `claims` counts the claims: it is the fencing number of the worker that holds the invoice. `held` tells a
// claimed invoice from one that waits: a claim that finds it set takes over from a worker that was lost.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE invoices (
      id              text COLLATE "C" NOT NULL,
      organization_id text COLLATE "C" NOT NULL,
      created_at      timestamptz NOT NULL,
      updated_at      timestamptz NOT NULL,
      submitted_at    timestamptz,
      completed_at    timestamptz,
      next_attempt_at timestamptz,
      due_at          timestamptz,
      attempt_count   integer NOT NULL DEFAULT 0,
      claims          integer NOT NULL DEFAULT 0,
      upo_available   boolean NOT NULL DEFAULT false,
      held            boolean NOT NULL DEFAULT false,
      mode            text NOT NULL,
      status          text NOT NULL,
      scenario        text,
      official_number text,
      reference       text,
      trace           text,
      rejection       jsonb,
      failure         jsonb,
      metadata        json NOT NULL,

      CONSTRAINT invoices_pkey                 PRIMARY KEY (id),
      CONSTRAINT invoices_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
      CONSTRAINT invoices_mode_known           CHECK (mode IN ('test', 'live')),
      CONSTRAINT invoices_status_known         CHECK (
        status IN ('queued', 'submitting', 'retrying', 'submitted', 'accepted', 'rejected', 'failed')
      ),
      CONSTRAINT invoices_scenario_of_test     CHECK ((mode = 'test') = (scenario IS NOT NULL)),
      CONSTRAINT invoices_next_attempt_retrying CHECK ((status = 'retrying') = (next_attempt_at IS NOT NULL)),
      CONSTRAINT invoices_completed_final      CHECK (
        (status IN ('accepted', 'rejected', 'failed')) = (completed_at IS NOT NULL)
      ),
      CONSTRAINT invoices_number_accepted      CHECK ((status = 'accepted') = (official_number IS NOT NULL)),
      CONSTRAINT invoices_rejection_rejected   CHECK ((status = 'rejected') = (rejection IS NOT NULL)),
      CONSTRAINT invoices_upo_accepted         CHECK (NOT upo_available OR status = 'accepted'),
      CONSTRAINT invoices_unfinished_due       CHECK (
        status NOT IN ('queued', 'submitting', 'retrying', 'submitted') OR due_at IS NOT NULL
      ),
      CONSTRAINT invoices_held_due             CHECK (NOT held OR due_at IS NOT NULL)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)
  `
  // The oldest of all come first; when they are more than a claim takes, organizations take turns.
  yield* sql`CREATE INDEX invoices_due_at_idx ON invoices (due_at, id) WHERE due_at IS NOT NULL`
  yield* sql`
    CREATE INDEX invoices_organization_id_due_at_idx ON invoices (organization_id, due_at, id) WHERE due_at IS NOT NULL
  `
  yield* sql`CREATE INDEX invoices_organization_id_id_idx ON invoices (organization_id, id DESC)`

  // Apart from the invoice, so that moving an invoice on does not rewrite its document.
  yield* sql`
    CREATE TABLE invoice_documents (
      invoice_id text COLLATE "C" NOT NULL,
      xml        text NOT NULL,

      CONSTRAINT invoice_documents_pkey            PRIMARY KEY (invoice_id),
      CONSTRAINT invoice_documents_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices (id)
    )
  `

  yield* sql`
    CREATE TABLE receipts (
      invoice_id text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      sha256     bytea NOT NULL,
      xml        bytea NOT NULL,

      CONSTRAINT receipts_pkey            PRIMARY KEY (invoice_id),
      CONSTRAINT receipts_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices (id),
      CONSTRAINT receipts_sha256_length   CHECK (length(sha256) = 32)
    )
  `

  yield* sql`
    CREATE TABLE idempotency_records (
      organization_id text COLLATE "C" NOT NULL,
      mode            text NOT NULL,
      key             text COLLATE "C" NOT NULL,
      created_at      timestamptz NOT NULL,
      status          smallint NOT NULL,
      request_hash    bytea NOT NULL,
      invoice_id      text COLLATE "C" NOT NULL,
      body            text NOT NULL,

      CONSTRAINT idempotency_records_pkey                PRIMARY KEY (organization_id, mode, key),
      CONSTRAINT idempotency_records_request_hash_length CHECK (length(request_hash) = 32)
    )
  `
  yield* sql`CREATE INDEX idempotency_records_created_at_idx ON idempotency_records (created_at)`
})
