import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// The delivery row is the queue entry, so record and queue cannot disagree. `due_at` is the time from which a worker may
// act; it is null when nothing is left to do. `is_due` is set when that time has come: it is false while a retry is
// scheduled, so that scheduled retries cost claims nothing, and it stays true while the delivery is leased.
// `lease_expires_at` distinguishes leased deliveries from available ones. `fencing_token` is increased by every claim.
//
// `interruption_count` counts expired leases and interruptions of the quarantine process; the latter are counted in
// `quarantine_interruption_count` too. From two interruptions on a delivery is in quarantine: it does not become due by
// promotion, and only a claim for the quarantine process takes it.
//
// A claim changes no indexed column, so Postgres writes the new row version to the same page and to no index (HOT); the
// fillfactor leaves space for it. Completion removes the delivery from the index of due deliveries and writes to all
// indexes.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The organization of an event is that of its invoice, and the organization of a delivery is that of its endpoint. A
  // foreign key would check it again, and every insert would lock the row of the organization.
  //
  // `body` is the event as it is sent, the same bytes on every attempt and for every endpoint.
  yield* sql`
    CREATE TABLE events (
      id              text COLLATE "C" NOT NULL,
      organization_id text COLLATE "C" NOT NULL,
      invoice_id      text COLLATE "C" NOT NULL,
      created_at      timestamptz NOT NULL,
      type            text NOT NULL,
      traceparent     text,
      body            text NOT NULL,

      CONSTRAINT events_pkey                 PRIMARY KEY (id),
      CONSTRAINT events_invoice_id_fkey      FOREIGN KEY (invoice_id) REFERENCES invoices (id),
      CONSTRAINT events_type_known           CHECK (
        type IN (
          'invoice.received', 'invoice.submitted', 'invoice.accepted',
          'invoice.upo_available', 'invoice.rejected', 'invoice.failed'
        )
      )
    )
  `
  // The events of an invoice, so that an owner finds its deliveries.
  yield* sql`
    CREATE INDEX events_invoice_id_idx ON events (invoice_id)
  `

  // The primary key begins with the endpoint because lists are of one endpoint; every write knows both columns. Each row
  // gets a second index entry when it is completed, for which the fillfactor of the indexes leaves space.
  yield* sql`
    CREATE TABLE deliveries (
      id                 text COLLATE "C" NOT NULL,
      organization_id    text COLLATE "C" NOT NULL,
      endpoint_id        text COLLATE "C" NOT NULL,
      event_id           text COLLATE "C" NOT NULL,
      created_at         timestamptz NOT NULL,
      updated_at         timestamptz NOT NULL,
      last_attempted_at  timestamptz,
      delivered_at       timestamptz,
      next_retry_at      timestamptz,
      due_at             timestamptz,
      lease_expires_at   timestamptz,
      attempt_count      integer NOT NULL DEFAULT 0,
      fencing_token      integer NOT NULL DEFAULT 0,
      interruption_count            integer NOT NULL DEFAULT 0,
      quarantine_interruption_count integer NOT NULL DEFAULT 0,
      last_http_status   smallint,
      is_due             boolean NOT NULL DEFAULT true,
      status             text NOT NULL,
      event_type         text NOT NULL,
      last_error_summary text,
      failure_status     text,

      CONSTRAINT deliveries_pkey                 PRIMARY KEY (endpoint_id, id) WITH (fillfactor = 50),
      CONSTRAINT deliveries_id_length            CHECK (length(id) = 29),
      CONSTRAINT deliveries_endpoint_id_fkey     FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints (id),
      CONSTRAINT deliveries_event_id_fkey        FOREIGN KEY (event_id) REFERENCES events (id),
      CONSTRAINT deliveries_event_endpoint_key   UNIQUE (event_id, endpoint_id) WITH (fillfactor = 50),
      CONSTRAINT deliveries_status_known         CHECK (
        status IN ('pending', 'delivering', 'succeeded', 'retrying', 'failed', 'endpoint_disabled')
      ),
      CONSTRAINT deliveries_failure_status_known CHECK (
        failure_status IS NOT DISTINCT FROM CASE WHEN status IN ('retrying', 'failed', 'endpoint_disabled') THEN status END
      ),
      CONSTRAINT deliveries_due_unfinished       CHECK (
        (status IN ('pending', 'delivering', 'retrying')) = (due_at IS NOT NULL)
      ),
      CONSTRAINT deliveries_is_due_unfinished    CHECK (NOT is_due OR due_at IS NOT NULL),
      CONSTRAINT deliveries_leased_is_due        CHECK (lease_expires_at IS NULL OR (is_due AND status = 'delivering')),
      CONSTRAINT deliveries_unended_is_due       CHECK (status NOT IN ('pending', 'delivering') OR is_due),
      CONSTRAINT deliveries_delivering_leased    CHECK (status <> 'delivering' OR lease_expires_at IS NOT NULL),
      CONSTRAINT deliveries_next_retry_retrying  CHECK ((status = 'retrying') = (next_retry_at IS NOT NULL)),
      CONSTRAINT deliveries_delivered_succeeded  CHECK ((status = 'succeeded') = (delivered_at IS NOT NULL)),
      CONSTRAINT deliveries_interruptions_counted CHECK (
        quarantine_interruption_count BETWEEN 0 AND interruption_count
      ),
      CONSTRAINT deliveries_updated_after_created CHECK (updated_at >= created_at),
      CONSTRAINT deliveries_counts_not_negative  CHECK (attempt_count >= 0 AND fencing_token >= 0)
    ) WITH (
      fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,
      autovacuum_analyze_scale_factor = 0.1
    )
  `
  // Available and leased deliveries of each endpoint, the oldest first.
  yield* sql`
    CREATE INDEX deliveries_due_idx ON deliveries (endpoint_id, due_at) WHERE is_due
  `
  // Scheduled retries.
  yield* sql`
    CREATE INDEX deliveries_retries_idx ON deliveries (due_at) WHERE due_at IS NOT NULL AND NOT is_due
  `
  // Retries in quarantine, by organization.
  yield* sql`
    CREATE INDEX deliveries_quarantine_idx ON deliveries (organization_id, due_at)
    WHERE due_at IS NOT NULL AND NOT is_due AND interruption_count >= 2
  `
  // Deliveries that are retried or failed, so that an owner finds them among millions that succeeded. `failure_status`
  // exists for this index: an index on `status` would be written by every claim. It is not a generated column, because
  // Postgres copies the whole row to compute one on every update.
  yield* sql`
    CREATE INDEX deliveries_failure_status_idx ON deliveries (endpoint_id, failure_status, id)
    WHERE failure_status IS NOT NULL
  `

  // One row for each organization. Every claim and completion of its deliveries locks it, so the counts hold over all
  // workers. `in_flight` counts by endpoint and omits zeros. No lease expires before `next_lease_check_at`: the first claim
  // sets it, and only the scheduler moves it, so updates of the counts write to no index. The fillfactor keeps them on
  // their page.
  yield* sql`
    CREATE TABLE organization_concurrency (
      organization_id     text COLLATE "C" NOT NULL,
      in_flight           jsonb NOT NULL DEFAULT '{}',
      next_lease_check_at timestamptz,

      CONSTRAINT organization_concurrency_pkey               PRIMARY KEY (organization_id),
      CONSTRAINT organization_concurrency_in_flight_positive CHECK (NOT in_flight @? '$.* ? (@ < 1)')
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)
  `
  yield* sql`
    CREATE INDEX organization_concurrency_lease_check_idx ON organization_concurrency (next_lease_check_at)
    WHERE next_lease_check_at IS NOT NULL
  `
})
