import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// `due_at` is the time from which a worker may act: for a leased invoice, when its lease expires. It is null when nothing
// is left to do. `fencing_token` is increased by every claim. A claim that finds `is_leased` set has found an expired lease,
// which counts as an interruption. `quarantine_interruption_count` counts the interruptions of the quarantine process. From
// two interruptions on, only a claim for that process takes the invoice.
//
// Invoices of live mode are claimed by the lane of their taxpayer (0005): they are never leased themselves, and `due_at`
// counts only while they wait to be sent.
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
      first_failed_at timestamptz,
      attempt_count   integer NOT NULL DEFAULT 0,
      fencing_token   integer NOT NULL DEFAULT 0,
      interruption_count            integer NOT NULL DEFAULT 0,
      quarantine_interruption_count integer NOT NULL DEFAULT 0,
      upo_available   boolean NOT NULL DEFAULT false,
      is_leased       boolean NOT NULL DEFAULT false,
      mode            text NOT NULL,
      status          text NOT NULL,
      scenario        text,
      official_number text,
      reference       text,
      traceparent     text,
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
      CONSTRAINT invoices_interruptions_counted CHECK (
        quarantine_interruption_count BETWEEN 0 AND interruption_count
      ),
      CONSTRAINT invoices_updated_after_created CHECK (updated_at >= created_at),
      CONSTRAINT invoices_leased_due             CHECK (NOT is_leased OR due_at IS NOT NULL)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)
  `
  // A claim takes the oldest; when more are due than it takes, it serves organizations in turn.
  yield* sql`CREATE INDEX invoices_due_at_idx ON invoices (due_at, id) WHERE due_at IS NOT NULL AND mode = 'test'`
  yield* sql`
    CREATE INDEX invoices_organization_id_due_at_idx ON invoices (organization_id, due_at, id)
    WHERE due_at IS NOT NULL AND mode = 'test'
  `
  yield* sql`
    CREATE INDEX invoices_quarantine_idx ON invoices (due_at, id)
    WHERE due_at IS NOT NULL AND mode = 'test' AND interruption_count >= 2
  `
  // Live invoices that wait to be sent.
  yield* sql`
    CREATE INDEX invoices_waiting_idx ON invoices (organization_id, due_at, id)
    WHERE mode = 'live' AND status IN ('queued', 'retrying')
  `
  // Whether the original of a duplicate is an invoice of this server.
  yield* sql`
    CREATE INDEX invoices_live_official_number_idx ON invoices (official_number)
    WHERE mode = 'live' AND official_number IS NOT NULL
  `
  yield* sql`CREATE INDEX invoices_organization_id_id_idx ON invoices (organization_id, id DESC)`
  // Invoices that an owner looks for among many that were accepted.
  yield* sql`
    CREATE INDEX invoices_organization_id_status_id_idx ON invoices (organization_id, status, id DESC)
    WHERE status IN ('retrying', 'rejected', 'failed')
  `

  // A table of its own, so that a transition does not rewrite the document. The submission reads the values
  // that workers need of the document, and stores them in the columns after it.
  yield* sql`
    CREATE TABLE invoice_documents (
      invoice_id     text COLLATE "C" NOT NULL,
      xml            text NOT NULL,
      sha256         bytea NOT NULL,
      seller_nip     text,
      issue_date     text,
      invoice_number text,
      form_code      text,
      schema_version text,
      has_attachment boolean NOT NULL DEFAULT false,

      CONSTRAINT invoice_documents_pkey             PRIMARY KEY (invoice_id),
      CONSTRAINT invoice_documents_invoice_id_fkey  FOREIGN KEY (invoice_id) REFERENCES invoices (id),
      CONSTRAINT invoice_documents_sha256_length    CHECK (length(sha256) = 32),
      CONSTRAINT invoice_documents_seller_nip_form  CHECK (seller_nip ~ '^[0-9]{10}$'),
      CONSTRAINT invoice_documents_issue_date_form  CHECK (issue_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
      CONSTRAINT invoice_documents_lengths          CHECK (
        length(invoice_number) <= 256 AND length(form_code) <= 50 AND length(schema_version) <= 50
      )
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
