/** The schema of the first release. */
import type { Statements } from "../Migration.ts"

// Identifiers are compared byte by byte (COLLATE "C"): that is their order by age, and the fastest comparison. The owner leads
// the indexes that requests use, because it leads their queries.

// A number that sorts by age, and that hardly another database makes: microseconds, and 11 bits of a sequence.
const orderedId = "(((extract(epoch FROM clock_timestamp()) * 1000000)::bigint << 11) | nextval('national_ids'))"

export const schema: Statements = {
  id: 1,
  name: "schema",
  oldestCompatible: 1,
  statements: [
    // `email` is normalized: lower case, without surrounding white space. `reset_due_at` is when the mail with a link that
    // resets the password is sent, and null once it was. The link is valid until `reset_expires_at`. `language` is that in which
    // the owner used the console last. After a mail with notices, whether or not it could be sent, none is sent before
    // `notices_due_at`.
    `
      CREATE TABLE accounts (
        id               text COLLATE "C" NOT NULL,
        created_at       timestamptz NOT NULL,
        reset_due_at     timestamptz,
        reset_expires_at timestamptz,
        notices_due_at   timestamptz,
        email            text NOT NULL,
        password_hash    text NOT NULL,
        language         text NOT NULL DEFAULT 'en',
        reset_language   text,
        reset_hash       bytea,

        CONSTRAINT accounts_pkey                 PRIMARY KEY (id),
        CONSTRAINT accounts_email_key            UNIQUE (email),
        CONSTRAINT accounts_language_known       CHECK (language IN ('en', 'pl')),
        CONSTRAINT accounts_reset_language_known CHECK (reset_language IN ('en', 'pl'))
      )
    `,
    `CREATE INDEX accounts_reset_due_at_idx ON accounts (reset_due_at) WHERE reset_due_at IS NOT NULL`,
    `CREATE INDEX accounts_reset_hash_idx ON accounts (reset_hash) WHERE reset_hash IS NOT NULL`,

    // A session is a family of refresh tokens: one is valid at a time, and all end together. `network` is where the login
    // came from: an IPv4 address, or an IPv6 prefix of 64 bits.
    `
      CREATE TABLE sessions (
        id         text COLLATE "C" NOT NULL,
        account_id text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        revoked_at timestamptz,
        network    text NOT NULL,

        CONSTRAINT sessions_pkey            PRIMARY KEY (id),
        CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id)
      )
    `,
    `CREATE INDEX sessions_account_id_network_idx ON sessions (account_id, network)`,

    `
      CREATE TABLE refresh_tokens (
        hash       bytea NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        expires_at timestamptz NOT NULL,
        spent_at   timestamptz,

        CONSTRAINT refresh_tokens_pkey            PRIMARY KEY (hash),
        CONSTRAINT refresh_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions (id),
        CONSTRAINT refresh_tokens_hash_length     CHECK (length(hash) = 32)
      )
    `,
    // For the pruner: expired tokens, and whether a session has any left.
    `CREATE INDEX refresh_tokens_expires_at_idx ON refresh_tokens (expires_at)`,
    `CREATE INDEX refresh_tokens_session_id_idx ON refresh_tokens (session_id)`,

    `
      CREATE TABLE organizations (
        id                     text COLLATE "C" NOT NULL,
        account_id             text COLLATE "C" NOT NULL,
        created_at             timestamptz NOT NULL,
        name                   text NOT NULL,
        credential             bytea,
        credential_kind        text,
        credential_environment text,
        credential_context     text,
        credential_expires_at  timestamptz,
        credential_state       text,
        credential_checked_at  timestamptz,
        credential_refusal     jsonb,
        credential_updated_at  timestamptz,
        credential_refusals    integer NOT NULL DEFAULT 0,
        credential_told        text[] NOT NULL DEFAULT '{}',

        CONSTRAINT organizations_pkey             PRIMARY KEY (id),
        CONSTRAINT organizations_account_id_fkey  FOREIGN KEY (account_id) REFERENCES accounts (id),
        CONSTRAINT organizations_credential_whole CHECK (
          num_nonnulls(credential, credential_kind, credential_context, credential_state, credential_updated_at) IN (0, 5)
          AND (credential IS NOT NULL OR num_nonnulls(
            credential_environment, credential_expires_at, credential_checked_at, credential_refusal
          ) = 0)
        ),
        CONSTRAINT organizations_credential_kind_known  CHECK (credential_kind IN ('ksef_token', 'certificate')),
        CONSTRAINT organizations_credential_state_known CHECK (credential_state IN ('unchecked', 'accepted', 'refused')),
        CONSTRAINT organizations_credential_refusal     CHECK (credential_refusal IS NULL OR credential_state = 'refused')
      )
    `,
    `CREATE INDEX organizations_account_id_id_idx ON organizations (account_id, id DESC)`,
    // For notices: credentials that expire, and tokens.
    `
      CREATE INDEX organizations_credential_expires_at_idx ON organizations (credential_expires_at)
      WHERE credential_expires_at IS NOT NULL
    `,
    `CREATE INDEX organizations_credential_token_idx ON organizations (id) WHERE credential_kind = 'ksef_token'`,
    // Sealed values by the key that sealed them: version, length of its id, and id are their first bytes.
    `
      CREATE INDEX organizations_credential_key_idx
      ON organizations (substring(credential FROM 1 FOR 2 + get_byte(credential, 1)), id) WHERE credential IS NOT NULL
    `,

    // The certificate with which the organization `id` issues invoices offline, its key sealed. It belongs to an environment of the
    // national system, as the credential does.
    `
      CREATE TABLE offline_certificates (
        id            text COLLATE "C" NOT NULL,
        updated_at    timestamptz NOT NULL,
        valid_from    timestamptz NOT NULL,
        valid_until   timestamptz NOT NULL,
        environment   text,
        serial_number text NOT NULL,
        subject       text NOT NULL,
        told          text[] NOT NULL DEFAULT '{}',
        private_key   bytea NOT NULL,

        CONSTRAINT offline_certificates_pkey    PRIMARY KEY (id),
        CONSTRAINT offline_certificates_id_fkey FOREIGN KEY (id) REFERENCES organizations (id)
      )
    `,
    `CREATE INDEX offline_certificates_valid_until_idx ON offline_certificates (valid_until)`,
    `
      CREATE INDEX offline_certificates_private_key_key_idx
      ON offline_certificates (substring(private_key FROM 1 FOR 2 + get_byte(private_key, 1)), id)
    `,

    `
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
    `,
    `
      CREATE INDEX api_keys_organization_id_id_idx ON api_keys (organization_id, id DESC) WHERE revoked_at IS NULL
    `,

    // Keys that were revoked or expire, for the pruner.
    `
      CREATE INDEX api_keys_ended_idx ON api_keys (least(revoked_at, expires_at))
      WHERE least(revoked_at, expires_at) IS NOT NULL
    `,

    // Completions write `pace`: an endpoint is new until its first attempt has an answer, and slow from an attempt that timed out
    // or could not connect until one that succeeds. A new or slow one has one delivery in flight at most, and any other as many as
    // `max_in_flight`, if that is set.
    //
    // They write `failing_since` and `failed_at` too: the first failure since the last success, and a later one, not the latest:
    // it moves every five minutes at most. `disabled_reason` is why the server switched the endpoint off.
    //
    // `told` has the notices that the owner was sent, here and on credentials and certificates.
    `
      CREATE TABLE webhook_endpoints (
        id                text COLLATE "C" NOT NULL,
        organization_id   text COLLATE "C" NOT NULL,
        created_at        timestamptz NOT NULL,
        updated_at        timestamptz NOT NULL,
        deleted_at        timestamptz,
        next_secret_at    timestamptz,
        failing_since     timestamptz,
        failed_at         timestamptz,
        enabled           boolean NOT NULL,
        standard_webhooks boolean NOT NULL DEFAULT false,
        max_in_flight     integer,
        pace              text NOT NULL,
        url               text NOT NULL,
        description       text,
        disabled_reason   text,
        event_types       text[] NOT NULL,
        modes             text[] NOT NULL DEFAULT '{test,live}',
        header_names      text[] NOT NULL DEFAULT '{}',
        told              text[] NOT NULL DEFAULT '{}',
        headers           bytea,
        secret            bytea NOT NULL,
        next_secret       bytea,

        CONSTRAINT webhook_endpoints_pkey                 PRIMARY KEY (id),
        CONSTRAINT webhook_endpoints_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
        CONSTRAINT webhook_endpoints_event_types_not_none CHECK (cardinality(event_types) > 0),
        CONSTRAINT webhook_endpoints_modes_known          CHECK (cardinality(modes) > 0 AND modes <@ '{test,live}'),
        CONSTRAINT webhook_endpoints_headers_whole        CHECK ((headers IS NULL) = (cardinality(header_names) = 0)),
        CONSTRAINT webhook_endpoints_next_secret_whole    CHECK ((next_secret IS NULL) = (next_secret_at IS NULL)),
        CONSTRAINT webhook_endpoints_max_in_flight        CHECK (max_in_flight >= 1),
        CONSTRAINT webhook_endpoints_pace_known           CHECK (pace IN ('new', 'steady', 'slow')),
        CONSTRAINT webhook_endpoints_failing_whole        CHECK ((failing_since IS NULL) = (failed_at IS NULL)),
        CONSTRAINT webhook_endpoints_disabled_reason      CHECK (
          disabled_reason IS NULL OR (disabled_reason = 'failing' AND NOT enabled)
        )
      )
    `,
    `
      CREATE INDEX webhook_endpoints_organization_id_id_idx ON webhook_endpoints (organization_id, id DESC)
      WHERE deleted_at IS NULL
    `,
    // Those that a notice may be about.
    `
      CREATE INDEX webhook_endpoints_notices_idx ON webhook_endpoints (organization_id)
      WHERE failing_since IS NOT NULL OR disabled_reason IS NOT NULL OR told <> '{}'
    `,
    `
      CREATE INDEX webhook_endpoints_deleted_at_id_idx ON webhook_endpoints (deleted_at, id) WHERE deleted_at IS NOT NULL
    `,
    `
      CREATE INDEX webhook_endpoints_secret_key_idx
      ON webhook_endpoints (substring(secret FROM 1 FOR 2 + get_byte(secret, 1)), id)
    `,
    `
      CREATE INDEX webhook_endpoints_next_secret_key_idx
      ON webhook_endpoints (substring(next_secret FROM 1 FOR 2 + get_byte(next_secret, 1)), id)
      WHERE next_secret IS NOT NULL
    `,
    `
      CREATE INDEX webhook_endpoints_headers_key_idx
      ON webhook_endpoints (substring(headers FROM 1 FOR 2 + get_byte(headers, 1)), id) WHERE headers IS NOT NULL
    `,

    // `due_at` is the time from which a worker may act. It is null when nothing is left to do. A transaction that locks the row
    // processes an invoice of test mode.
    //
    // Invoices of live mode are claimed by the lane of their taxpayer, and their `due_at` counts only while they wait to be
    // sent.

    `
      CREATE TABLE invoices (
        id              text COLLATE "C" NOT NULL,
        organization_id text COLLATE "C" NOT NULL,
        created_at      timestamptz NOT NULL,
        mode            text NOT NULL,
        updated_at      timestamptz NOT NULL,
        submitted_at    timestamptz,
        completed_at    timestamptz,
        next_attempt_at timestamptz,
        due_at          timestamptz,
        first_failed_at timestamptz,
        attempt_count   integer NOT NULL DEFAULT 0,
        upo_available   boolean NOT NULL DEFAULT false,
        status          text NOT NULL,
        official_number text,
        rejection       jsonb,
        failure         jsonb,
        official_mode   text,
        scenario        text,
        traceparent     text,
        metadata        json NOT NULL,
        document        json,
        verification_url text,
        certificate_url text,
        invoicing_mode  text NOT NULL DEFAULT 'online',
        send_by         text,
        corrects        text COLLATE "C",
        warnings        json,

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
        CONSTRAINT invoices_official_mode_known  CHECK (official_mode IN ('online', 'offline')),
        CONSTRAINT invoices_offline_whole        CHECK (
          CASE invoicing_mode
            WHEN 'online'  THEN num_nonnulls(certificate_url, send_by, corrects) = 0
            WHEN 'offline' THEN num_nonnulls(certificate_url, send_by) = 2
            ELSE false
          END
        ),
        CONSTRAINT invoices_send_by_form         CHECK (send_by ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
        CONSTRAINT invoices_updated_after_created CHECK (updated_at >= created_at)
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)
    `,
    `CREATE INDEX invoices_due_at_idx ON invoices (due_at) WHERE due_at IS NOT NULL AND mode = 'test'`,
    // Live invoices that wait to be sent.
    `
      CREATE INDEX invoices_waiting_idx ON invoices (organization_id, due_at, id)
      WHERE mode = 'live' AND status IN ('queued', 'retrying')
    `,
    // Invoices that were issued offline and not sent yet, by their last day.
    `
      CREATE INDEX invoices_send_by_idx ON invoices (send_by)
      WHERE mode = 'live' AND status IN ('queued', 'submitting', 'retrying') AND send_by IS NOT NULL
    `,
    // Technical corrections, by the invoice that they correct: whether one was accepted, however many were not.
    `CREATE INDEX invoices_corrects_idx ON invoices (corrects, status) WHERE corrects IS NOT NULL`,
    // Also whether the original of a duplicate is an invoice of this server.
    `CREATE INDEX invoices_official_number_idx ON invoices (official_number) WHERE official_number IS NOT NULL`,
    `CREATE INDEX invoices_organization_id_id_idx ON invoices (organization_id, id DESC)`,
    // Invoices that an owner looks for among many that were accepted.
    `
      CREATE INDEX invoices_organization_id_status_id_idx ON invoices (organization_id, status, id DESC)
      WHERE status IN ('retrying', 'rejected', 'failed')
    `,

    // A table of its own, so that a transition does not rewrite the document. The submission reads the values
    // that workers need of the document, and stores them in the columns after it.
    `
      CREATE TABLE invoice_documents (
        invoice_id      text COLLATE "C" NOT NULL,
        organization_id text COLLATE "C" NOT NULL,
        xml             text NOT NULL,
        sha256          bytea NOT NULL,
        seller_nip      text,
        buyer_tax_id    text,
        issue_date      text,
        invoice_number  text,
        form_code       text,
        schema_version  text,
        has_attachment  boolean NOT NULL DEFAULT false,

        CONSTRAINT invoice_documents_pkey             PRIMARY KEY (invoice_id),
        CONSTRAINT invoice_documents_invoice_id_fkey  FOREIGN KEY (invoice_id) REFERENCES invoices (id),
        CONSTRAINT invoice_documents_sha256_length    CHECK (length(sha256) = 32),
        CONSTRAINT invoice_documents_seller_nip_form  CHECK (seller_nip ~ '^[0-9]{10}$'),
        CONSTRAINT invoice_documents_issue_date_form  CHECK (issue_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
        CONSTRAINT invoice_documents_lengths          CHECK (
          length(invoice_number) <= 256 AND length(buyer_tax_id) <= 60 AND length(form_code) <= 50
          AND length(schema_version) <= 50
        )
      )
    `,
    // What people look for. These rows are never updated, so that each index costs an invoice one write.
    ...["invoice_number", "buyer_tax_id", "seller_nip"].map(
      (column) => `
        CREATE INDEX invoice_documents_${column}_idx ON invoice_documents (organization_id, ${column}, invoice_id DESC)
        WHERE form_code IS NOT NULL
      `
    ),

    `
      CREATE TABLE receipts (
        invoice_id      text COLLATE "C" NOT NULL,
        organization_id text COLLATE "C" NOT NULL,
        created_at      timestamptz NOT NULL,
        xml             bytea NOT NULL,

        CONSTRAINT receipts_pkey            PRIMARY KEY (invoice_id),
        CONSTRAINT receipts_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices (id)
      )
    `,

    `
      CREATE TABLE idempotency_records (
        organization_id text COLLATE "C" NOT NULL,
        mode            text NOT NULL,
        key             text COLLATE "C" NOT NULL,
        created_at      timestamptz NOT NULL,
        request_hash    bytea NOT NULL,
        invoice_id      text COLLATE "C" NOT NULL,
        body            text NOT NULL,

        CONSTRAINT idempotency_records_pkey                PRIMARY KEY (organization_id, mode, key),
        CONSTRAINT idempotency_records_request_hash_length CHECK (length(request_hash) = 32)
      )
    `,
    `CREATE INDEX idempotency_records_created_at_idx ON idempotency_records (created_at)`,

    // The delivery row is the queue entry, so record and queue cannot disagree. `due_at` is the time from which a worker may
    // act; it is null when nothing is left to do. `is_due` is set when that time has come: it is false while a retry is
    // scheduled, so that scheduled retries cost claims nothing, and it stays true while the delivery is leased.
    // `lease_expires_at` distinguishes leased deliveries from available ones. `fencing_token` is increased by every claim.
    //
    // `interruption_count` counts expired leases. From two on a delivery is attempted alone: promotion leaves it out, and a claim of
    // its own takes it. With the fourth it fails.
    //
    // A claim changes no indexed column, so Postgres writes the new row version to the same page and to no index (HOT); the
    // fillfactor leaves space for it. Completion removes the delivery from the index of due deliveries and writes to all
    // indexes.

    // Events and deliveries are partitioned by week over the time in their identifiers, and retention drops partitions.
    // `database/Partitions.ts` makes them. A delivery has the time of its event, so that each is found from the other.
    //
    // The organization of an event is that of its invoice, and the organization of a delivery is that of its endpoint. There are
    // no foreign keys: they would lock the rows that they refer to for every insert, and their tables for every new partition.
    // The outbox writes deliveries in the statement that writes their event, and endpoints are deleted after their deliveries.
    //
    // `body` is the event as it is sent, the same bytes on every attempt and for every endpoint. `type` is one of
    // `InvoiceEvent.EventType`: only the outbox writes it, from the transition, so that a new type needs no migration.
    `
      CREATE TABLE events (
        id              text COLLATE "C" NOT NULL,
        organization_id text COLLATE "C" NOT NULL,
        invoice_id      text COLLATE "C" NOT NULL,
        type            text NOT NULL,
        traceparent     text,
        body            text NOT NULL,

        CONSTRAINT events_pkey PRIMARY KEY (id)
      ) PARTITION BY RANGE (id)
    `,
    // The events of an invoice, so that an owner finds its deliveries.
    `
      CREATE INDEX events_invoice_id_idx ON events (invoice_id)
    `,

    // The primary key begins with the endpoint because lists are of one endpoint; every write knows both columns. Each row
    // gets a second index entry when it is completed, for which the fillfactor of the index leaves space.
    //
    // One constraint, the table of the states: each costs every claim and every completion.
    `
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
        interruption_count integer NOT NULL DEFAULT 0,
        last_http_status   smallint,
        is_due             boolean NOT NULL DEFAULT true,
        status             text NOT NULL,
        event_type         text NOT NULL,
        last_error_summary text,
        failure_status     text,

        CONSTRAINT deliveries_pkey   PRIMARY KEY (endpoint_id, id) WITH (fillfactor = 50),
        CONSTRAINT deliveries_status CHECK (CASE status
          WHEN 'pending' THEN
            is_due AND due_at IS NOT NULL AND num_nonnulls(lease_expires_at, next_retry_at, delivered_at, failure_status) = 0
          WHEN 'delivering' THEN
            is_due AND due_at IS NOT NULL AND lease_expires_at IS NOT NULL
            AND num_nonnulls(next_retry_at, delivered_at, failure_status) = 0
          WHEN 'retrying' THEN
            due_at IS NOT NULL AND next_retry_at IS NOT NULL AND failure_status IS NOT DISTINCT FROM status
            AND num_nonnulls(lease_expires_at, delivered_at) = 0
          WHEN 'succeeded' THEN
            NOT is_due AND delivered_at IS NOT NULL AND num_nonnulls(due_at, lease_expires_at, next_retry_at, failure_status) = 0
          WHEN 'failed' THEN
            NOT is_due AND failure_status IS NOT DISTINCT FROM status
            AND num_nonnulls(due_at, lease_expires_at, next_retry_at, delivered_at) = 0
          WHEN 'endpoint_disabled' THEN
            NOT is_due AND failure_status IS NOT DISTINCT FROM status
            AND num_nonnulls(due_at, lease_expires_at, next_retry_at, delivered_at) = 0
          ELSE false
        END)
      ) PARTITION BY RANGE (id)
    `,
    // Available and leased deliveries of each endpoint, the oldest first.
    `
      CREATE INDEX deliveries_due_idx ON deliveries (endpoint_id, due_at) WHERE is_due
    `,
    // Scheduled retries.
    `
      CREATE INDEX deliveries_retries_idx ON deliveries (due_at) WHERE due_at IS NOT NULL AND NOT is_due
    `,
    // Retries that are attempted alone, by organization.
    `
      CREATE INDEX deliveries_alone_idx ON deliveries (organization_id, due_at)
      WHERE due_at IS NOT NULL AND NOT is_due AND interruption_count >= 2
    `,
    // Deliveries that are retried or failed, so that an owner finds them among millions that succeeded. `failure_status`
    // exists for this index: an index on `status` would be written by every claim. It is not a generated column, because
    // Postgres copies the whole row to compute one on every update.
    `
      CREATE INDEX deliveries_failure_status_idx ON deliveries (endpoint_id, failure_status, id)
      WHERE failure_status IS NOT NULL
    `,

    // One row for each organization. Every claim and completion of its deliveries locks it, so the counts hold over all
    // workers. `in_flight` counts by endpoint and omits zeros. `max_in_flight` replaces the limit of the deployment; it is zero while the organization moves to another cell. No lease expires before `next_lease_check_at`: the first claim
    // sets it, and only the scheduler moves it, so updates of the counts write to no index. The fillfactor keeps them on
    // their page.
    `
      CREATE TABLE organization_concurrency (
        organization_id     text COLLATE "C" NOT NULL,
        in_flight           jsonb NOT NULL DEFAULT '{}',
        max_in_flight       integer,
        next_lease_check_at timestamptz,

        CONSTRAINT organization_concurrency_pkey               PRIMARY KEY (organization_id),
        CONSTRAINT organization_concurrency_in_flight_positive CHECK (NOT in_flight @? '$.* ? (@ < 1)'),
        CONSTRAINT organization_concurrency_max_not_negative   CHECK (max_in_flight >= 0)
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)
    `,
    `
      CREATE INDEX organization_concurrency_lease_check_idx ON organization_concurrency (next_lease_check_at)
      WHERE next_lease_check_at IS NOT NULL
    `,

    // One row: what the metrics show of the queues, read by one process for all of them.
    `
      CREATE TABLE queue_gauges (
        only_row boolean NOT NULL DEFAULT true,
        read_at  timestamptz NOT NULL,
        gauges   jsonb,

        CONSTRAINT queue_gauges_pkey     PRIMARY KEY (only_row),
        CONSTRAINT queue_gauges_only_row CHECK (only_row)
      )
    `,
    `INSERT INTO queue_gauges (read_at) VALUES ('-infinity')`,

    // The state of live mode: sessions, submissions and calls of the national system (KSeF), which knows a context by its value: the NIP of a
    // taxpayer, or more that begins with it.
    //
    // The invoice is the queue entry while it waits to be sent; its submission is from then on. Every call to the national system
    // has its intent stored before it is made, so that the next holder of a lane knows what may have happened.

    `
      CREATE INDEX organizations_credential_context_idx ON organizations (credential_context, id) WHERE credential_context IS NOT NULL
    `,

    // The environment that this database belongs to: one row, written by the first start in live mode. `outage` is
    // why invoices wait while KSeF is unavailable, and until when that counts.
    `
      CREATE TABLE national_environment (
        is_only     boolean NOT NULL DEFAULT true,
        environment text NOT NULL,
        outage      jsonb,

        CONSTRAINT national_environment_pkey PRIMARY KEY (is_only),
        CONSTRAINT national_environment_one  CHECK (is_only)
      )
    `,

    // A lane is the unit of work, because quota, sessions and blocks are of a context. `due_at` is the time from which a worker
    // may claim it: of a leased lane, when its lease expires. `fencing_token` is increased by every claim, and every statement
    // of a holder updates the lane under its token.
    //
    // `limits` are the effective ones, `used` the calls of the last hour, `blocked` until when calls are refused: all by the
    // groups of operations that the national system limits. `trouble` is why its steps wait.
    `
      CREATE TABLE national_lanes (
        context       text COLLATE "C" NOT NULL,
        due_at        timestamptz,
        limits_at     timestamptz,
        fencing_token integer NOT NULL DEFAULT 0,
        is_leased     boolean NOT NULL DEFAULT false,
        limits        jsonb NOT NULL DEFAULT '{}',
        used          jsonb NOT NULL DEFAULT '{}',
        blocked       jsonb NOT NULL DEFAULT '{}',
        trouble       jsonb,

        CONSTRAINT national_lanes_pkey         PRIMARY KEY (context),
        CONSTRAINT national_lanes_context_form CHECK (context ~ '^[0-9]{10}(-[0-9A-Z+*]+)?$'),
        CONSTRAINT national_lanes_leased_due   CHECK (NOT is_leased OR due_at IS NOT NULL)
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)
    `,
    `CREATE INDEX national_lanes_due_at_idx ON national_lanes (due_at, context) WHERE due_at IS NOT NULL`,

    // Tokens of the organization `id`, sealed. They are of the credential that was stored at `credential_updated_at`, and of no other.
    `
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
    `,
    `
      CREATE INDEX national_logins_access_token_key_idx
      ON national_logins (substring(access_token FROM 1 FOR 2 + get_byte(access_token, 1)), id)
    `,
    `
      CREATE INDEX national_logins_refresh_token_key_idx
      ON national_logins (substring(refresh_token FROM 1 FOR 2 + get_byte(refresh_token, 1)), id)
    `,

    `CREATE SEQUENCE national_ids MINVALUE 0 MAXVALUE 2047 CYCLE`,
    // `reference` is null until the answer to the opening is stored. `unreadable_since` is when the first of the reads failed
    // that no later one has succeeded after, because this login cannot read the session. The key of a session is in the memory
    // of the holder that opened it: no later holder can send in it.
    `
      CREATE TABLE national_sessions (
        id              bigint NOT NULL DEFAULT ${orderedId},
        organization_id text COLLATE "C" NOT NULL,
        context         text COLLATE "C" NOT NULL,
        created_at      timestamptz NOT NULL,
        valid_until     timestamptz,
        due_at          timestamptz,
        unreadable_since timestamptz,
        code            integer,
        check_count     integer NOT NULL DEFAULT 0,
        document_count  integer NOT NULL DEFAULT 0,
        kind            text NOT NULL,
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
    `,
    // Sessions that a holder has something left to do for.
    `
      CREATE INDEX national_sessions_unfinished_idx ON national_sessions (context, id)
      WHERE state NOT IN ('done', 'abandoned')
    `,

    // One row for each document that was handed over, or may have been. `due_at` is when to look at it next: for its verdict,
    // and of an accepted one for its receipt. `stored_at` is when the national system stored it for good, where it said so. `original_session` has
    // the receipt where this copy was a duplicate of the accepted one.
    //
    // The unique index forbids a second submission of an invoice while the outcome of one is not known.
    `
      CREATE TABLE national_submissions (
        id                 bigint NOT NULL DEFAULT ${orderedId},
        session_id         bigint NOT NULL,
        organization_id    text COLLATE "C" NOT NULL,
        invoice_id         text COLLATE "C" NOT NULL,
        context            text COLLATE "C" NOT NULL,
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
    `,
    `
      CREATE UNIQUE INDEX national_submissions_live_key ON national_submissions (invoice_id)
      WHERE state IN ('sending', 'sent')
    `,
    // Other invoices with the same document, whose outcome is open.
    `
      CREATE INDEX national_submissions_open_document_idx ON national_submissions (sha256)
      WHERE state IN ('sending', 'sent')
    `,
    `CREATE INDEX national_submissions_invoice_id_idx ON national_submissions (invoice_id, id)`,
    `CREATE INDEX national_submissions_session_id_idx ON national_submissions (session_id, id)`,
    // The due work of a context, by the step of its lane: verdicts, receipts, and documents that are sent again. A row is in one of
    // them, and a step does not read what waits for another.
    `
      CREATE INDEX national_submissions_verdicts_idx ON national_submissions (context, due_at, invoice_id)
      WHERE due_at IS NOT NULL AND state IN ('sending', 'sent')
    `,
    `
      CREATE INDEX national_submissions_receipts_idx ON national_submissions (context, due_at, invoice_id)
      WHERE due_at IS NOT NULL AND state = 'decided'
    `,
    `
      CREATE INDEX national_submissions_resends_idx ON national_submissions (context, due_at, invoice_id)
      WHERE due_at IS NOT NULL AND state = 'refused'
    `,

    // The directory of a deployment in cells, empty in any other: what `govoice cells` writes in the control cell, and replication
    // brings to the others. The cell of a bucket has everything of its organizations.
    `
      CREATE TABLE cells (
        name       text COLLATE "C" NOT NULL,
        is_control boolean NOT NULL,
        url        text NOT NULL,

        CONSTRAINT cells_pkey PRIMARY KEY (name)
      )
    `,
    `CREATE UNIQUE INDEX cells_control_key ON cells (is_control) WHERE is_control`,
    `
      CREATE TABLE cell_buckets (
        bucket text COLLATE "C" NOT NULL,
        cell   text COLLATE "C" NOT NULL,

        CONSTRAINT cell_buckets_pkey        PRIMARY KEY (bucket),
        CONSTRAINT cell_buckets_cell_fkey   FOREIGN KEY (cell) REFERENCES cells (name),
        CONSTRAINT cell_buckets_bucket_form CHECK (bucket ~ '^[0-9a-hjkmnp-tv-z]{2}$')
      )
    `,
    // In the control cell: which cell serves a taxpayer in live mode.
    `
      CREATE TABLE cell_taxpayers (
        nip  text COLLATE "C" NOT NULL,
        cell text COLLATE "C" NOT NULL,

        CONSTRAINT cell_taxpayers_pkey      PRIMARY KEY (nip),
        CONSTRAINT cell_taxpayers_cell_fkey FOREIGN KEY (cell) REFERENCES cells (name)
      )
    `,
    // Logical replication takes the rows of some organizations, and a condition on the rows that change needs their organization.
    `ALTER TABLE national_sessions REPLICA IDENTITY FULL`,
    `ALTER TABLE national_submissions REPLICA IDENTITY FULL`,
    // Buckets that move to another cell, or have moved there, in the database that they leave: `cells/moveState.ts`. Those of one
    // move have the same `lead`, whose row has the rest.
    `
      CREATE TABLE cell_moves (
        bucket     text COLLATE "C" NOT NULL,
        lead       text COLLATE "C" NOT NULL,
        started_at timestamptz NOT NULL,
        step       text NOT NULL,
        target     text NOT NULL,
        contexts   text[] NOT NULL,
        held       jsonb NOT NULL,

        CONSTRAINT cell_moves_pkey       PRIMARY KEY (bucket),
        CONSTRAINT cell_moves_step_known CHECK (
          step IN ('copying', 'draining', 'frozen', 'copied', 'flipped', 'moved', 'aborting')
        )
      )
    `
  ]
}
