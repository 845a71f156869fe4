import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// The delivery row is the queue entry: there is no second queue to disagree with it. `due_at` and `claims` are as in
// the invoices.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `body` is the event as it is sent, byte for byte the same on every attempt and for every endpoint.
  yield* sql`
    CREATE TABLE events (
      id              text COLLATE "C" NOT NULL,
      organization_id text COLLATE "C" NOT NULL,
      invoice_id      text COLLATE "C" NOT NULL,
      created_at      timestamptz NOT NULL,
      type            text NOT NULL,
      body            text NOT NULL,

      CONSTRAINT events_pkey                 PRIMARY KEY (id),
      CONSTRAINT events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
      CONSTRAINT events_invoice_id_fkey      FOREIGN KEY (invoice_id) REFERENCES invoices (id),
      CONSTRAINT events_type_known           CHECK (
        type IN (
          'invoice.received', 'invoice.submitted', 'invoice.accepted',
          'invoice.upo_available', 'invoice.rejected', 'invoice.failed'
        )
      )
    )
  `

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
      attempt_count      integer NOT NULL DEFAULT 0,
      claims             integer NOT NULL DEFAULT 0,
      last_http_status   smallint,
      status             text NOT NULL,
      event_type         text NOT NULL,
      last_error_summary text,

      CONSTRAINT deliveries_pkey                 PRIMARY KEY (id),
      CONSTRAINT deliveries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
      CONSTRAINT deliveries_endpoint_id_fkey     FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints (id),
      CONSTRAINT deliveries_event_id_fkey        FOREIGN KEY (event_id) REFERENCES events (id),
      CONSTRAINT deliveries_endpoint_event_key   UNIQUE (endpoint_id, event_id),
      CONSTRAINT deliveries_status_known         CHECK (
        status IN ('pending', 'delivering', 'succeeded', 'retrying', 'failed', 'endpoint_disabled')
      ),
      CONSTRAINT deliveries_due_unfinished       CHECK (
        (status IN ('pending', 'delivering', 'retrying')) = (due_at IS NOT NULL)
      ),
      CONSTRAINT deliveries_next_retry_retrying  CHECK ((status = 'retrying') = (next_retry_at IS NOT NULL)),
      CONSTRAINT deliveries_delivered_succeeded  CHECK ((status = 'succeeded') = (delivered_at IS NOT NULL))
    )
  `
  yield* sql`
    CREATE INDEX deliveries_organization_id_due_at_idx ON deliveries (organization_id, due_at, id)
    WHERE due_at IS NOT NULL
  `
  yield* sql`CREATE INDEX deliveries_next_retry_at_idx ON deliveries (next_retry_at) WHERE next_retry_at IS NOT NULL`
  yield* sql`CREATE INDEX deliveries_endpoint_id_id_idx ON deliveries (endpoint_id, id DESC)`

  // One row for each organization: who claims its deliveries locks it, so the count holds over all workers. A page that
  // is half empty keeps the many updates on it.
  yield* sql`
    CREATE TABLE lanes (
      organization_id text COLLATE "C" NOT NULL,
      in_flight       integer NOT NULL DEFAULT 0,

      CONSTRAINT lanes_pkey                 PRIMARY KEY (organization_id),
      CONSTRAINT lanes_in_flight_not_negative CHECK (in_flight >= 0)
    ) WITH (fillfactor = 50)
  `
})
