/**
 * Moves organizations from one cell to another, while both work.
 *
 * PostgreSQL's logical replication copies their rows and follows the changes. Writes are refused for the moment in which the last
 * ones arrive and the directory changes. The state is a row of the cell that is left (`moveState.ts`), so that a move that was
 * interrupted anywhere continues with the next step.
 */
import { Ids } from "@govoice/core"
import { ContextIdentifier } from "@govoice/ksef/format"
import { Data, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { column, textArray } from "../database/Arrays.ts"
import * as Partitions from "../database/Partitions.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import * as controlTables from "./controlTables.ts"
import * as movedTables from "./movedTables.ts"
import * as moveState from "./moveState.ts"
import * as subscriptions from "./subscriptions.ts"

type Sql = SqlClient.SqlClient

/** The databases of a move. */
export interface Databases {
  /** Of the control cell, which has the directory. */
  readonly control: Sql
  readonly source: Sql
  readonly target: Sql
  /** The URL of the source, with which the database of the target connects to it. */
  readonly sourceUrl: string
}

/** A move cannot begin or continue. The message has the cause, and what to do. */
export class MoveRefused extends Data.TaggedError("MoveRefused")<{ readonly message: string }> {}

const refuse = (message: string) => Effect.fail(new MoveRefused({ message }))

/** The name of the publication, the subscription and the slot. */
const nameOf = ({ lead }: Pick<moveState.Move, "lead">): string => moveState.namePrefix + lead

const isPresent = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0

const pollEvery = "50 millis"

/** Polls until a condition holds. Returns whether it did so in time. */
const awaitTrue = <E>(check: Effect.Effect<boolean, E>, withinMs = Infinity): Effect.Effect<boolean, E> =>
  Effect.gen(function* () {
    const startedAt = yield* MonotonicTime.now
    while (!(yield* check)) {
      if ((yield* MonotonicTime.now) - startedAt > withinMs) return false
      yield* Effect.sleep(pollEvery)
    }
    return true
  })

// An arbitrary number. The second key is the bucket.
const lock = 7_064_826

// What a process that was killed had begun ends within seconds.
const otherEndsMs = 30_000

/**
 * Lets one process at a time move a bucket. The lock ends with the session, and a session that lost its client ends with its
 * statement.
 */
const lockMove = (sql: Sql, bucket: string) =>
  Effect.flatMap(
    awaitTrue(
      Effect.map(
        sql<{ readonly taken: boolean }>`SELECT pg_try_advisory_lock(${lock}, hashtext(${bucket})) AS taken`,
        ([row]) => row!.taken
      ),
      otherEndsMs
    ),
    (isTaken) => (isTaken ? Effect.void : refuse("Another process moves this organization. Wait until it has ended."))
  )

/** The contexts of organizations: their lanes move with them. */
const contextsOf = (sql: Sql, organizations: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ readonly context: string }>`
      SELECT credential_context AS context FROM organizations
      WHERE id = ANY (${textArray(organizations)}) AND credential_context IS NOT NULL
      UNION
      SELECT context FROM national_sessions WHERE organization_id = ANY (${textArray(organizations)})
      UNION
      SELECT context FROM national_submissions WHERE organization_id = ANY (${textArray(organizations)}) AND due_at IS NOT NULL
    `,
    (rows) => rows.map(({ context }) => context)
  )

const taxpayersOf = (contexts: ReadonlyArray<string>) => textArray(contexts.map(ContextIdentifier.nip))

/** The buckets of organizations with the taxpayers of these contexts. */
const bucketsOf = (sql: Sql, contexts: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ readonly bucket: string }>`
      SELECT DISTINCT ${sql.literal(movedTables.bucketOf("organization"))} AS bucket FROM organizations
      WHERE left(credential_context, 10) = ANY (${taxpayersOf(contexts)})
    `,
    (rows) => rows.map(({ bucket }) => bucket)
  )

/** The buckets that move with a bucket: those of organizations with the same taxpayers, whose limits are counted in one cell. */
const findTogether = Effect.fnUntraced(function* (sql: Sql, lead: string) {
  const buckets = new Set([lead])
  while (true) {
    const before = buckets.size
    const contexts = yield* contextsOf(sql, yield* moveState.organizationsOf(sql, [...buckets]))
    for (const bucket of yield* bucketsOf(sql, contexts)) buckets.add(bucket)
    if (buckets.size === before) return { buckets: [...buckets].sort(), contexts }
  }
})

/** Tells where the directory has buckets. */
const cellsOf = (sql: Sql, buckets: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ readonly cell: string }>`
      SELECT DISTINCT cell FROM cell_buckets WHERE bucket = ANY (${textArray(buckets)})
    `,
    (rows) => rows.map(({ cell }) => cell)
  )

/** Checks that the target is the database of the cell that was named. */
const checkTarget = Effect.fnUntraced(function* ({ control, target }: Databases, to: string) {
  const [cell] = yield* control<{ readonly is_control: boolean }>`SELECT is_control FROM cells WHERE name = ${to}`
  if (cell === undefined)
    return yield* refuse(`The directory has no cell ${to}. 'govoice cells status' lists the cells.`)
  const found = cell.is_control
    ? yield* target`SELECT 1 FROM pg_publication WHERE pubname = ${controlTables.publication}`
    : yield* target`
        SELECT 1 FROM pg_subscription
        WHERE subname = ${controlTables.publication} AND subslotname = ${controlTables.slotOf(to)}
          AND ${target.literal(subscriptions.ofThisDatabase)}
      `
  if (!isPresent(found)) return yield* refuse(`GOVOICE_TARGET_DATABASE_URL is not the database of cell ${to}.`)
})

const checkDatabases = Effect.fnUntraced(function* ({ source, target }: Databases) {
  const [server] = yield* source<{ readonly version: number; readonly level: string; readonly replicates: boolean }>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('wal_level') AS level,
           rolsuper OR rolreplication AS replicates
    FROM pg_roles WHERE rolname = current_user
  `
  if (server!.version < 150_000) return yield* refuse("Moving needs PostgreSQL 15 or later.")
  if (server!.level !== "logical") {
    return yield* refuse(`The database has wal_level=${server!.level}, expected logical. Set it, and restart Postgres.`)
  }
  if (!server!.replicates) {
    return yield* refuse("The user of DATABASE_URL needs the attribute REPLICATION: ALTER ROLE … REPLICATION.")
  }
  const { may } = yield* Effect.provideService(controlTables.subscriber, SqlClient.SqlClient, target)
  if (!may) return yield* refuse(controlTables.mayNotSubscribe("GOVOICE_TARGET_DATABASE_URL"))
  const schemaOf = (sql: Sql) => sql<{ readonly sums: string }>`
    SELECT string_agg(checksum, ' ' ORDER BY migration_id) AS sums FROM schema_migrations
  `
  if ((yield* schemaOf(source))[0]?.sums !== (yield* schemaOf(target))[0]?.sums) {
    return yield* refuse("The cells have different schemas. Run 'govoice migrate' of the same version in both.")
  }
})

/** Stores a new move. From then on, the taxpayers of its organizations do not change. */
const begin = Effect.fnUntraced(function* (databases: Databases, lead: string, from: string, target: string) {
  const { control, source } = databases
  yield* checkDatabases(databases)
  yield* moveState.makeFence(source)
  const store = Effect.gen(function* () {
    yield* source.unsafe(moveState.lockFenced)
    const { buckets, contexts } = yield* findTogether(source, lead)
    yield* source`DELETE FROM cell_moves WHERE bucket = ANY (${textArray(buckets)}) AND step = 'moved'`
    yield* source`
      INSERT INTO cell_moves (bucket, lead, started_at, step, target, contexts, held)
      SELECT bucket, ${lead}, now(), 'copying', ${target}, ${textArray(contexts)}, '{"limits":{},"lanes":{}}'
      FROM unnest(${textArray(buckets)}) AS bucket
    `
    return buckets
  })
  const buckets = yield* moveState.withLocks(source, store)
  const cells = yield* cellsOf(control, buckets)
  if (cells.length === 1 && cells[0] === from) return
  yield* source`DELETE FROM cell_moves WHERE lead = ${lead}`
  return yield* refuse(
    cells.length === 1
      ? `The organization is in cell ${cells[0]}, and DATABASE_URL is that of ${from}. Run the command with the settings of the cell that it leaves.`
      : `Organizations with the same taxpayers are in the cells ${cells.join(" and ")}. Move them to one first.`
  )
})

// The rows arrive while the workers of the target look for work. A trigger that only replication fires holds invoices of test mode;
// limits of zero hold deliveries, and leases of lanes hold those.
const holdArrivals = `
  CREATE OR REPLACE FUNCTION hold_arrival() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.mode = 'test' AND NOT ${moveState.isHeld("NEW.due_at")} THEN NEW.due_at := NEW.due_at + ${moveState.hold}; END IF;
    RETURN NEW;
  END
  $$
`

/** Holds what arrives in the target, so that its workers do not touch it. */
const prepareTarget = Effect.fnUntraced(function* ({ source, target }: Databases, move: moveState.Move) {
  const organizations = yield* moveState.organizationsOf(source, move.buckets)
  yield* Effect.provideService(Partitions.makeFirst, SqlClient.SqlClient, target)
  const found = yield* target`
    SELECT 1 FROM pg_trigger WHERE tgname = 'hold_arrival' AND tgrelid = 'invoices'::regclass AND tgenabled = 'R'
  `
  if (found.length === 0) {
    yield* target.unsafe(holdArrivals)
    yield* moveState.withLocks(
      target,
      Effect.gen(function* () {
        yield* target`DROP TRIGGER IF EXISTS hold_arrival ON invoices`
        yield* target`
          CREATE TRIGGER hold_arrival BEFORE INSERT OR UPDATE ON invoices FOR EACH ROW EXECUTE FUNCTION hold_arrival()
        `
        yield* target`ALTER TABLE invoices ENABLE REPLICA TRIGGER hold_arrival`
      })
    )
  }
  yield* target`
    INSERT INTO organization_concurrency (organization_id, max_in_flight)
    SELECT id, 0 FROM unnest(${textArray(organizations)}) AS id
    ON CONFLICT (organization_id) DO UPDATE SET max_in_flight = 0
  `
  yield* target`
    INSERT INTO national_lanes (context, is_leased, due_at)
    SELECT context, true, now() + ${target.literal(moveState.hold)} FROM unnest(${textArray(move.contexts)}) AS context
    ON CONFLICT (context) DO UPDATE SET is_leased = true, due_at = excluded.due_at, fencing_token = national_lanes.fencing_token + 1
  `
})

const subscriptionOf = (target: Sql, name: string) => target`
  SELECT 1 FROM pg_subscription
  WHERE subname = ${name} AND ${target.literal(subscriptions.ofThisDatabase)}
`

/** Copies the rows, and has the changes followed. */
const subscribe = Effect.fnUntraced(function* ({ source, sourceUrl, target }: Databases, move: moveState.Move) {
  const name = nameOf(move)
  if (!isPresent(yield* source`SELECT 1 FROM pg_publication WHERE pubname = ${name}`)) {
    const values = move.buckets.map(subscriptions.literal).join(", ")
    const tables = Object.entries(movedTables.replicated).map(
      ([table, bucket]) => `${table} WHERE (${bucket} IN (${values}))`
    )
    yield* source.unsafe(
      `CREATE PUBLICATION ${name} FOR TABLE ${tables.join(", ")} WITH (publish = 'insert, update, delete', publish_via_partition_root = true)`
    )
  }
  if (isPresent(yield* subscriptionOf(target, name))) return
  // The slot of a subscription that was not completed.
  yield* dropSlot(source, name)
  yield* target.unsafe(`CREATE SUBSCRIPTION ${name} CONNECTION ${subscriptions.literal(sourceUrl)} PUBLICATION ${name}`)
})

const dropSlot = (source: Sql, name: string) => source`
  SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = ${name} AND NOT active
`

const answerMs = 30_000

/** Refuses where another cell has gone silent. */
const answered = <A, E>(effect: Effect.Effect<A, E>, message: string) =>
  Effect.timeoutOrElse(effect, { duration: answerMs, orElse: () => refuse(message) })

// A copy, and what follows the changes, begins anew five seconds after an error, such as a connection that was lost.
const maxErrors = 3

/** Makes a check that refuses when the subscription fails again and again. What failed before does not count: it may be corrected. */
const makeRefuseFailing = Effect.fnUntraced(function* ({ target }: Databases, move: moveState.Move) {
  const name = nameOf(move)
  const read = target<{ readonly errors: number }>`
    SELECT coalesce(sum(apply_error_count + sync_error_count), 0)::int AS errors FROM pg_stat_subscription_stats
    WHERE subname = ${name}
  `
  const silent = `Cell ${move.target} has not answered for ${answerMs / 1000} s. Run the command again, or with --abort.`
  const count = Effect.map(answered(read, silent), ([row]) => row!.errors)
  const before = yield* count
  return Effect.flatMap(count, (errors) =>
    errors - before < maxErrors
      ? Effect.void
      : refuse(
          `The subscription ${name} fails: the log of the database of cell ${move.target} has the cause. Correct it and run the command again, or with --abort.`
        )
  )
})

/** Waits for the first copy. */
const awaitCopy = Effect.fnUntraced(function* (databases: Databases, move: moveState.Move) {
  const refuseFailing = yield* makeRefuseFailing(databases, move)
  const check = Effect.gen(function* () {
    yield* refuseFailing
    const [row] = yield* databases.target<{ readonly tables: number; readonly left: number }>`
      SELECT count(*)::int AS tables, (count(*) FILTER (WHERE srsubstate <> 'r'))::int AS left
      FROM pg_subscription_rel JOIN pg_subscription ON pg_subscription.oid = srsubid
      WHERE subname = ${nameOf(move)} AND ${databases.target.literal(subscriptions.ofThisDatabase)}
    `
    return row!.tables > 0 && row!.left === 0
  })
  yield* awaitTrue(check)
})

/** Waits until the target has confirmed all that was written to the source before now. Returns whether it did so in time. */
const awaitTarget = Effect.fnUntraced(function* (databases: Databases, move: moveState.Move, withinMs = Infinity) {
  const { source } = databases
  // Within a time, the target is not asked: it may have gone silent.
  const refuseFailing = withinMs === Infinity ? yield* makeRefuseFailing(databases, move) : Effect.void
  const [at] = yield* source<{ readonly lsn: string }>`SELECT pg_current_wal_insert_lsn()::text AS lsn`
  const isConfirmed = Effect.map(
    source`
      SELECT 1 FROM pg_replication_slots WHERE slot_name = ${nameOf(move)} AND confirmed_flush_lsn >= ${at!.lsn}::pg_lsn
    `,
    isPresent
  )
  return yield* awaitTrue(Effect.andThen(refuseFailing, isConfirmed), withinMs)
})

/** Stops the claims of deliveries, and keeps the limits that the organizations have. */
const drain = Effect.fnUntraced(function* ({ source }: Databases, move: moveState.Move) {
  const organizations = yield* moveState.organizationsOf(source, move.buckets)
  yield* source.withTransaction(
    Effect.gen(function* () {
      yield* source`
        UPDATE cell_moves SET step = 'draining', held = jsonb_set(held, '{limits}', held -> 'limits' || coalesce((
          SELECT jsonb_object_agg(organization_id, max_in_flight) FROM organization_concurrency
          WHERE organization_id = ANY (${textArray(organizations)}) AND max_in_flight IS DISTINCT FROM 0
        ), '{}'))
        WHERE lead = ${move.lead}
      `
      yield* holdClaims(source, organizations)
    })
  )
})

const holdClaims = (source: Sql, organizations: ReadonlyArray<string>) => source`
  INSERT INTO organization_concurrency (organization_id, max_in_flight)
  SELECT id, 0 FROM unnest(${textArray(organizations)}) AS id ORDER BY id
  ON CONFLICT (organization_id) DO UPDATE SET max_in_flight = 0
`

// The endpoints that have something in flight, by organization.
const inFlight = (sql: Sql, organizations: ReadonlyArray<string>) => sql`
  SELECT organization_id, endpoint_id FROM organization_concurrency CROSS JOIN LATERAL jsonb_object_keys(in_flight) AS endpoint_id
  WHERE organization_id = ANY (${textArray(organizations)})
`

/** Waits until no attempt is in flight: each has ended, or its lease has. */
const awaitAttempts = Effect.fnUntraced(function* ({ source }: Databases, move: moveState.Move) {
  const organizations = yield* moveState.organizationsOf(source, move.buckets)
  yield* awaitTrue(
    Effect.map(
      source`
        SELECT 1 FROM (${inFlight(source, organizations)}) AS flying JOIN deliveries USING (endpoint_id)
        WHERE is_due AND lease_expires_at > now() LIMIT 1
      `,
      (rows) => !isPresent(rows)
    )
  )
})

/**
 * Freezes the organizations: requests are refused, and workers that still hold something have lost it. When it returns, no
 * transaction that writes rows of theirs is in progress.
 */
const freeze = Effect.fnUntraced(function* ({ source }: Databases, move: moveState.Move) {
  const organizations = yield* moveState.organizationsOf(source, move.buckets)
  yield* moveState.withLocks(
    source,
    Effect.gen(function* () {
      yield* source.unsafe(moveState.lockFenced)
      yield* moveState.setStep(source, move, "frozen")
      yield* holdClaims(source, organizations)
      yield* source`
        UPDATE deliveries SET fencing_token = fencing_token + 1
        FROM (${inFlight(source, organizations)}) AS flying
        WHERE deliveries.endpoint_id = flying.endpoint_id AND is_due AND lease_expires_at IS NOT NULL
      `
      yield* source`
        INSERT INTO national_lanes (context)
        SELECT context FROM unnest(${textArray(move.contexts)}) AS context ON CONFLICT DO NOTHING
      `
      yield* source`
        WITH lane AS MATERIALIZED (
          SELECT context, CASE WHEN is_leased THEN due_at END AS leased_until FROM national_lanes
          WHERE context = ANY (${textArray(move.contexts)}) AND ${source.literal(moveState.isHeld("due_at"))} IS NOT TRUE
          FOR UPDATE
        ), held AS (
          UPDATE national_lanes SET
            fencing_token = fencing_token + 1, is_leased = true, due_at = now() + ${source.literal(moveState.hold)}
          FROM lane WHERE national_lanes.context = lane.context
        )
        UPDATE cell_moves SET held = jsonb_set(held, '{lanes}', held -> 'lanes' || coalesce(
          (SELECT jsonb_object_agg(context, leased_until) FROM lane), '{}'
        ))
        WHERE lead = ${move.lead}
      `
      yield* source`
        UPDATE invoices SET due_at = due_at + ${source.literal(moveState.hold)}
        WHERE organization_id = ANY (${textArray(organizations)}) AND mode = 'test' AND due_at IS NOT NULL
          AND NOT ${source.literal(moveState.isHeld("due_at"))}
      `
    })
  )
})

/** The invoices of test mode that are held go on. */
const releaseInvoices = (sql: Sql, organizations: ReadonlyArray<string>) => sql`
  UPDATE invoices SET due_at = due_at - ${sql.literal(moveState.hold)}
  WHERE organization_id = ANY (${textArray(organizations)}) AND mode = 'test' AND ${sql.literal(moveState.isHeld("due_at"))}
`

/** The deliveries that are held go on, within the limits that the organizations had. The counts are those of the leases. */
const releaseDeliveries = Effect.fnUntraced(function* (
  sql: Sql,
  organizations: ReadonlyArray<string>,
  { limits }: moveState.Held
) {
  yield* sql`
    SELECT FROM organization_concurrency WHERE organization_id = ANY (${textArray(organizations)}) ORDER BY organization_id FOR UPDATE
  `
  yield* sql`
    UPDATE organization_concurrency SET
      max_in_flight       = (${JSON.stringify(limits)}::jsonb ->> organization_concurrency.organization_id)::int,
      in_flight           = coalesce(leased.in_flight, '{}'),
      next_lease_check_at = CASE WHEN leased.in_flight IS NOT NULL THEN now() END
    FROM unnest(${textArray(organizations)}) AS id LEFT JOIN (
      SELECT organization_id, jsonb_object_agg(endpoint_id, n) AS in_flight
      FROM (
        SELECT deliveries.organization_id, endpoint_id, count(*) AS n
        FROM webhook_endpoints JOIN deliveries ON endpoint_id = webhook_endpoints.id
        WHERE webhook_endpoints.organization_id = ANY (${textArray(organizations)}) AND is_due AND lease_expires_at IS NOT NULL
        GROUP BY 1, 2
      ) AS of_endpoint
      GROUP BY 1
    ) AS leased ON leased.organization_id = id
    WHERE organization_concurrency.organization_id = id AND max_in_flight = 0
  `
})

/** Takes a freeze back. */
const thaw = Effect.fnUntraced(function* ({ source }: Databases, move: moveState.Move, step: moveState.Step) {
  const organizations = yield* moveState.organizationsOf(source, move.buckets)
  yield* source.withTransaction(
    Effect.gen(function* () {
      yield* moveState.setStep(source, move, step)
      if (step === "aborting") yield* releaseDeliveries(source, organizations, move.held)
      yield* source`
        UPDATE national_lanes SET is_leased = false, due_at = now()
        WHERE context = ANY (${textArray(move.contexts)}) AND ${source.literal(moveState.isHeld("due_at"))}
      `
      yield* releaseInvoices(source, organizations)
    })
  )
})

// Submissions are refused while the last changes arrive.
const arriveMs = 3000

const freezeAndFollow = Effect.fnUntraced(function* (databases: Databases, move: moveState.Move) {
  yield* freeze(databases, move)
  if (yield* awaitTarget(databases, move, arriveMs)) return
  yield* thaw(databases, move, "draining")
  return yield* refuse(
    `Cell ${move.target} did not have the last changes within ${arriveMs} ms, and the organization goes on in its cell. Run the command again, or with --abort.`
  )
})

const credentialColumns = movedTables.credentialColumns.join(", ")

/** Brings what replication does not: credentials. Nothing arrives any more. */
const copyCredentials = Effect.fnUntraced(function* ({ source, target }: Databases, move: moveState.Move) {
  yield* target.unsafe(`DROP SUBSCRIPTION IF EXISTS ${nameOf(move)}`)
  const [found] = yield* source<{ readonly rows: string; readonly count: number }>`
    SELECT coalesce(json_agg(organizations), '[]')::text AS rows, count(*)::int AS count FROM organizations
    WHERE ${source.literal(movedTables.bucketOf("organization"))} = ANY (${textArray(move.buckets)})
  `
  const { count, rows } = found!
  const written = yield* target.withTransaction(
    Effect.gen(function* () {
      // The fence of an earlier move in the other direction.
      yield* target`DELETE FROM cell_moves WHERE bucket = ANY (${textArray(move.buckets)})`
      return yield* target`
        UPDATE organizations SET (${target.literal(credentialColumns)}) = (
          SELECT ${target.literal(credentialColumns)} FROM json_populate_recordset(NULL::organizations, ${rows}::text::json) AS arrived
          WHERE arrived.id = organizations.id
        )
        WHERE ${target.literal(movedTables.bucketOf("organization"))} = ANY (${textArray(move.buckets)})
        RETURNING id
      `
    })
  )
  if (written.length !== count) {
    return yield* refuse(
      `Cell ${move.target} has ${written.length} of ${count} organizations: it has not got them from the control cell. Run the command again.`
    )
  }
})

/** Changes the directory: from then on, the target serves the organizations and their taxpayers. */
const flip = ({ control }: Databases, from: string, { buckets, contexts, target }: moveState.Move) => control`
  WITH taxpayer AS (
    UPDATE cell_taxpayers SET cell = ${target} WHERE nip = ANY (${taxpayersOf(contexts)}) AND cell = ${from}
  )
  UPDATE cell_buckets SET cell = ${target} WHERE bucket = ANY (${textArray(buckets)}) AND cell = ${from}
`

/** Releases what is held in the target: its workers go on with it. Done again, it changes nothing. */
const open = Effect.fnUntraced(function* ({ source, target }: Databases, move: moveState.Move) {
  const organizations = yield* moveState.organizationsOf(source, move.buckets)
  const lanes = yield* source<{ readonly context: string; readonly row: string }>`
    SELECT context, to_json(national_lanes)::text AS row FROM national_lanes WHERE context = ANY (${textArray(move.contexts)})
  `
  yield* target.withTransaction(
    Effect.gen(function* () {
      yield* target`
        INSERT INTO organization_concurrency (organization_id, max_in_flight)
        SELECT id, 0 FROM unnest(${textArray(organizations)}) AS id ON CONFLICT DO NOTHING
      `
      yield* releaseDeliveries(target, organizations, move.held)
      // A lane whose holder may still be in a call is claimed when the lease of that one has ended.
      yield* target`
        UPDATE national_lanes SET
          fencing_token = greatest(national_lanes.fencing_token, arrived.fencing_token) + 1,
          limits_at = arrived.limits_at, limits = arrived.limits, used = arrived.used, blocked = arrived.blocked,
          trouble = arrived.trouble,
          is_leased = leased_until IS NOT NULL, due_at = coalesce(leased_until, now())
        FROM unnest(${column("text", lanes, ({ row }) => row)}) AS source_row
        CROSS JOIN LATERAL json_populate_record(NULL::national_lanes, source_row::json) AS arrived
        CROSS JOIN LATERAL (
          SELECT (${JSON.stringify(move.held.lanes)}::jsonb ->> arrived.context)::timestamptz AS leased_until
        ) AS lease
        WHERE national_lanes.context = arrived.context AND ${target.literal(moveState.isHeld("national_lanes.due_at"))}
      `
      yield* target`
        UPDATE national_lanes SET is_leased = false, due_at = now()
        WHERE context = ANY (${textArray(move.contexts)}) AND ${target.literal(moveState.isHeld("due_at"))}
      `
      yield* releaseInvoices(target, organizations)
    })
  )
})

const changeCell = Effect.fnUntraced(function* (databases: Databases, from: string, move: moveState.Move) {
  if ((yield* cellsOf(databases.control, move.buckets)).includes(from)) {
    yield* copyCredentials(databases, move)
    yield* flip(databases, from, move)
  }
  yield* open(databases, move)
  yield* moveState.setStep(databases.source, move, "flipped")
})

/** Deletes what has been copied to the target, as far as it has. */
const discard = Effect.fnUntraced(function* ({ target }: Databases, move: moveState.Move) {
  yield* target.withTransaction(
    Effect.gen(function* () {
      yield* moveState.passFence(target)
      for (const [table, bucket] of Object.entries(movedTables.replicated).toReversed()) {
        yield* target`DELETE FROM ${target(table)} WHERE ${target.literal(bucket)} = ANY (${textArray(move.buckets)})`
      }
      yield* deleteWritten(target, move, yield* moveState.organizationsOf(target, move.buckets))
    })
  )
})

/** Takes back what the move wrote itself. */
const deleteWritten = Effect.fnUntraced(function* (
  sql: Sql,
  move: moveState.Move,
  organizations: ReadonlyArray<string>
) {
  const ids = textArray(organizations)
  yield* sql`DELETE FROM organization_concurrency WHERE organization_id = ANY (${ids})`
  yield* sql`DELETE FROM national_lanes WHERE context = ANY (${textArray(move.contexts)})`
  yield* sql`
    UPDATE organizations SET
      credential = NULL, credential_kind = NULL, credential_environment = NULL, credential_context = NULL,
      credential_expires_at = NULL, credential_state = NULL, credential_checked_at = NULL, credential_refusal = NULL,
      credential_updated_at = NULL, credential_refusals = 0, credential_told = '{}'
    WHERE id = ANY (${ids})
  `
})

const batch = 1000

/** Deletes the rows of organizations, in batches. */
const deleteRows = Effect.fnUntraced(function* (sql: Sql, move: moveState.Move, organizations: ReadonlyArray<string>) {
  const ids = textArray(organizations)
  const batches = (statement: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) =>
    Effect.gen(function* () {
      let last: ReadonlyArray<unknown>
      do {
        last = yield* sql.withTransaction(Effect.andThen(moveState.passFence(sql), statement))
      } while (last.length > 0)
    })
  yield* batches(sql`
    WITH old AS MATERIALIZED (
      SELECT endpoint_id, deliveries.id FROM webhook_endpoints CROSS JOIN LATERAL (
        SELECT endpoint_id, id FROM deliveries WHERE endpoint_id = webhook_endpoints.id ORDER BY endpoint_id, id LIMIT ${batch}::int
      ) AS deliveries
      WHERE organization_id = ANY (${ids}) LIMIT ${batch}::int
    )
    DELETE FROM deliveries USING old WHERE deliveries.endpoint_id = old.endpoint_id AND deliveries.id = old.id RETURNING 1
  `)
  yield* batches(sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM invoices WHERE organization_id = ANY (${ids}) ORDER BY organization_id, id LIMIT ${batch}::int
    ), event AS (
      DELETE FROM events WHERE invoice_id IN (SELECT id FROM old)
    ), document AS (
      DELETE FROM invoice_documents WHERE invoice_id IN (SELECT id FROM old)
    ), receipt AS (
      DELETE FROM receipts WHERE invoice_id IN (SELECT id FROM old)
    ), submission AS (
      DELETE FROM national_submissions WHERE invoice_id IN (SELECT id FROM old)
    )
    DELETE FROM invoices WHERE id IN (SELECT id FROM old) RETURNING 1
  `)
  yield* batches(sql`
    DELETE FROM idempotency_records WHERE (organization_id, mode, key) IN (
      SELECT organization_id, mode, key FROM idempotency_records WHERE organization_id = ANY (${ids}) LIMIT ${batch}::int
    ) RETURNING 1
  `)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* moveState.passFence(sql)
      yield* sql`DELETE FROM national_sessions WHERE organization_id = ANY (${ids})`
      for (const table of ["api_keys", "webhook_endpoints"]) {
        yield* sql`DELETE FROM ${sql(table)} WHERE organization_id = ANY (${ids})`
      }
      for (const table of ["national_logins", "offline_certificates"]) {
        yield* sql`DELETE FROM ${sql(table)} WHERE id = ANY (${ids})`
      }
      yield* deleteWritten(sql, move, organizations)
    })
  )
})

const dropPublication = (source: Sql, move: moveState.Move) =>
  Effect.andThen(source.unsafe(`DROP PUBLICATION IF EXISTS ${nameOf(move)}`), dropSlot(source, nameOf(move)))

// Processes read the directory every second.
const learnedWithin = "3 seconds"

/** Deletes what has left the source, once its processes have learned of it: until then they may answer reads. */
const clear = Effect.fnUntraced(function* ({ source }: Databases, move: moveState.Move) {
  yield* awaitTrue(Effect.map(cellsOf(source, move.buckets), (cells) => cells.every((cell) => cell === move.target)))
  yield* Effect.sleep(learnedWithin)
  yield* dropPublication(source, move)
  yield* deleteRows(source, move, yield* moveState.organizationsOf(source, move.buckets))
})

/** What is told when a step begins. */
const progress: Readonly<Record<moveState.Step, string>> = {
  copying: "Copying rows, and following the changes.",
  draining: "Waiting for deliveries in flight. No new ones begin.",
  frozen: "Writes are refused until the last changes have arrived.",
  copied: "Everything has arrived. Changing the directory.",
  flipped: "The directory has changed. Deleting the old rows.",
  moved: "Done.",
  aborting: "Aborting."
}

const runStep = (
  databases: Databases,
  from: string,
  move: moveState.Move
): Effect.Effect<void, MoveRefused | SqlError.SqlError> =>
  Effect.gen(function* () {
    const { source } = databases
    switch (move.step) {
      case "copying":
        yield* prepareTarget(databases, move)
        yield* subscribe(databases, move)
        yield* awaitCopy(databases, move)
        yield* awaitTarget(databases, move)
        return yield* drain(databases, move)
      case "draining":
        yield* awaitAttempts(databases, move)
        yield* awaitTarget(databases, move)
        yield* freezeAndFollow(databases, move)
        return yield* Effect.asVoid(moveState.setStep(source, move, "copied"))
      case "frozen":
        yield* freezeAndFollow(databases, move)
        return yield* Effect.asVoid(moveState.setStep(source, move, "copied"))
      case "copied":
        // It takes a second or two.
        return yield* answered(
          changeCell(databases, from, move),
          `Cell ${move.target} or the control cell has not answered for ${answerMs / 1000} s. Requests of the organization are refused until the move goes on: run the command again.`
        )
      case "flipped":
        yield* clear(databases, move)
        return yield* Effect.asVoid(moveState.setStep(source, move, "moved"))
      case "moved":
        return
      case "aborting":
        return yield* refuse("The move is being aborted. Run the command with --abort until it ends.")
    }
  })

/** What a move has done. */
export interface Moved {
  readonly organizations: number
  readonly buckets: number
}

/**
 * Moves an organization, with all others of its bucket and those with the same taxpayers, from the cell of `source` to another.
 * Continues a move that was interrupted.
 */
export const run = Effect.fnUntraced(function* (
  databases: Databases,
  {
    from,
    organization,
    tell,
    to
  }: {
    readonly organization: Ids.OrganizationId
    readonly from: string
    readonly to: string
    readonly tell: (line: string) => Effect.Effect<void>
  }
) {
  const { source, target } = databases
  const bucket = Ids.bucket(organization)
  yield* checkTarget(databases, to)
  if (!isPresent(yield* source`SELECT 1 FROM organizations WHERE id = ${organization}`)) {
    return yield* refuse(`There is no organization ${organization}.`)
  }
  for (const sql of [source, target]) yield* lockMove(sql, bucket)
  let move = yield* moveState.read(source, bucket)
  if (move === undefined || (move.step === "moved" && (yield* cellsOf(databases.control, [bucket]))[0] === from)) {
    yield* begin(databases, bucket, from, to)
    move = (yield* moveState.read(source, bucket))!
  }
  if (move.target !== to)
    return yield* refuse(`The organization is being moved to cell ${move.target}. Name that cell.`)
  const organizations = yield* moveState.organizationsOf(source, move.buckets)
  for (let told: moveState.Step | undefined; move.step !== "moved";) {
    if (move.step !== told) yield* tell(progress[move.step])
    told = move.step
    yield* runStep(databases, from, move)
    move = (yield* moveState.read(source, bucket))!
  }
  return { organizations: organizations.length, buckets: move.buckets.length } satisfies Moved
})

/** Ends a move, as long as the directory has not changed: the organizations stay where they are. */
export const abort = Effect.fnUntraced(function* (
  databases: Databases,
  { from, organization, to }: { readonly organization: Ids.OrganizationId; readonly from: string; readonly to: string }
) {
  const { control, source, target } = databases
  const bucket = Ids.bucket(organization)
  yield* checkTarget(databases, to)
  for (const sql of [source, target]) yield* lockMove(sql, bucket)
  const move = yield* moveState.read(source, bucket)
  if (move === undefined || move.step === "moved") return yield* refuse("The organization is not being moved.")
  if (move.target !== to)
    return yield* refuse(`The organization is being moved to cell ${move.target}. Name that cell.`)
  const cells = yield* cellsOf(control, move.buckets)
  if (cells.length !== 1 || cells[0] !== from) {
    return yield* refuse("The directory has changed already. Run the command without --abort: it completes the move.")
  }
  yield* thaw(databases, move, "aborting")
  yield* target.unsafe(`DROP SUBSCRIPTION IF EXISTS ${nameOf(move)}`)
  yield* dropPublication(source, move)
  yield* discard(databases, move)
  yield* source`DELETE FROM cell_moves WHERE lead = ${move.lead}`
})
