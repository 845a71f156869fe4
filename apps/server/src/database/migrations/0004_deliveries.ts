import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// The delivery row is the queue entry: there is no second queue to disagree with it. `due_at` says since when, or from
// when on, a worker may act; it is null when nothing is left to do. `ready` says that this time has come. It is false
// while the delivery waits for its retry, so what waits costs nothing to those who look for work, and it stays true in
// the hands of a worker: `leased_until` tells what is held from what can be claimed. `claims` counts the claims: it is
// the fencing number of the worker that holds the delivery.
//
// A claim changes no column that an index knows, so Postgres writes the row anew on the page where it lies, and writes to
// no index; the room on the page is for that. Settling takes the delivery out of the index of those that are ready, and
// writes to all.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The organization of an event is that of its invoice, and the organization of a delivery is that of its endpoint: they
  // are not checked a second time, which would have every insert lock the row of the organization.
  //
  // `body` is the event as it is sent, byte for byte the same on every attempt and for every endpoint.
  yield* sql`
    CREATE TABLE events (
      id              text COLLATE "C" NOT NULL,
      organization_id text COLLATE "C" NOT NULL,
      invoice_id      text COLLATE "C" NOT NULL,
      created_at      timestamptz NOT NULL,
      type            text NOT NULL,
      trace           text,
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

  // The endpoint leads the primary key, because lists are of one endpoint; whoever writes a delivery knows both. Every
  // delivery is written to the indexes a second time, when it is settled: there is room for that beside the first.
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
      leased_until       timestamptz,
      attempt_count      integer NOT NULL DEFAULT 0,
      claims             integer NOT NULL DEFAULT 0,
      last_http_status   smallint,
      ready              boolean NOT NULL DEFAULT true,
      status             text NOT NULL,
      event_type         text NOT NULL,
      last_error_summary text,
      trouble            text,

      CONSTRAINT deliveries_pkey                 PRIMARY KEY (endpoint_id, id) WITH (fillfactor = 50),
      CONSTRAINT deliveries_endpoint_id_fkey     FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints (id),
      CONSTRAINT deliveries_event_id_fkey        FOREIGN KEY (event_id) REFERENCES events (id),
      CONSTRAINT deliveries_event_endpoint_key   UNIQUE (event_id, endpoint_id) WITH (fillfactor = 50),
      CONSTRAINT deliveries_status_known         CHECK (
        status IN ('pending', 'delivering', 'succeeded', 'retrying', 'failed', 'endpoint_disabled')
      ),
      CONSTRAINT deliveries_trouble_is_status    CHECK (
        trouble IS NOT DISTINCT FROM CASE WHEN status IN ('retrying', 'failed', 'endpoint_disabled') THEN status END
      ),
      CONSTRAINT deliveries_due_unfinished       CHECK (
        (status IN ('pending', 'delivering', 'retrying')) = (due_at IS NOT NULL)
      ),
      CONSTRAINT deliveries_ready_unfinished     CHECK (NOT ready OR due_at IS NOT NULL),
      CONSTRAINT deliveries_leased_ready         CHECK (leased_until IS NULL OR (ready AND status = 'delivering')),
      CONSTRAINT deliveries_pending_ready        CHECK (status <> 'pending' OR ready),
      CONSTRAINT deliveries_next_retry_retrying  CHECK ((status = 'retrying') = (next_retry_at IS NOT NULL)),
      CONSTRAINT deliveries_delivered_succeeded  CHECK ((status = 'succeeded') = (delivered_at IS NOT NULL)),
      CONSTRAINT deliveries_counts_not_negative  CHECK (attempt_count >= 0 AND claims >= 0)
    ) WITH (
      fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,
      autovacuum_analyze_scale_factor = 0.1
    )
  `
  // What can be claimed, and what is in flight: endpoint by endpoint, the oldest first.
  yield* sql`
    CREATE INDEX deliveries_ready_idx ON deliveries (endpoint_id, due_at) WHERE ready
  `
  // What waits for its retry.
  yield* sql`
    CREATE INDEX deliveries_waiting_idx ON deliveries (due_at) WHERE due_at IS NOT NULL AND NOT ready
  `
  // What did not get through, so that an owner finds it among millions that did. The column is there for the index: with
  // `status` in it, every claim would have to write to the indexes. Whoever writes the one writes the other; were it
  // generated, Postgres would copy the whole row for it on every update.
  yield* sql`
    CREATE INDEX deliveries_trouble_idx ON deliveries (endpoint_id, trouble, id) WHERE trouble IS NOT NULL
  `

  // One row for each organization: who claims its deliveries locks it, so the counts hold over all workers. They are by
  // endpoint; one that has nothing in flight has no count. `look_at` is a time by which no lease in it has run out: the
  // first claim sets it, the look at the clock moves it on, and nobody else, so the many updates of the counts write to no
  // index. A page that is half empty keeps them on it.
  yield* sql`
    CREATE TABLE lanes (
      organization_id text COLLATE "C" NOT NULL,
      in_flight       jsonb NOT NULL DEFAULT '{}',
      look_at         timestamptz,

      CONSTRAINT lanes_pkey               PRIMARY KEY (organization_id),
      CONSTRAINT lanes_in_flight_positive CHECK (NOT in_flight @? '$.* ? (@ < 1)')
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)
  `
  yield* sql`CREATE INDEX lanes_look_at_idx ON lanes (look_at) WHERE look_at IS NOT NULL`
})
