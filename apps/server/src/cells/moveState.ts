/**
 * The state of a move, in the database of the cell that the organizations leave: its step, and the fence that refuses writes to
 * what has left.
 *
 * A deployment that has moved nothing has no fence: its triggers are made by the first move of a cell.
 */
import { Effect, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { textArray } from "../database/Arrays.ts"
import * as SqlErrors from "../database/SqlErrors.ts"
import { bucketOf } from "./movedTables.ts"
import { ofThisDatabase } from "./subscriptions.ts"

/**
 * The steps, in order.
 *
 * - `copying`: rows are copied and followed. No credential of another taxpayer is stored, and no organization that stays stores one
 *   of a taxpayer that moves.
 * - `draining`: no more deliveries are claimed; those in flight end.
 * - `frozen`: nothing of the organizations is written. What was written before arrives in the other cell.
 * - `copied`: all of it has arrived.
 * - `flipped`: the other cell serves them. The rows of this one are deleted.
 * - `moved`: they are gone. The row stays, so that a process that has not learned of it writes nothing here.
 *
 * `aborting` ends a move before the directory has changed.
 */
export type Step = "copying" | "draining" | "frozen" | "copied" | "flipped" | "moved" | "aborting"

/** What a frozen cell holds, as it was before. */
export interface Held {
  /** The limits of organizations that had one of their own. */
  readonly limits: Readonly<Record<string, number | null>>
  /** When the leases of lanes end; null for one that was not leased. */
  readonly lanes: Readonly<Record<string, string | null>>
}

/** A move, as the cell that is left knows it. */
export interface Move {
  /** The bucket of the organization that was named. The others are those of organizations with the same taxpayers. */
  readonly lead: string
  readonly buckets: ReadonlyArray<string>
  readonly target: string
  readonly step: Step
  readonly contexts: ReadonlyArray<string>
  readonly held: Held
}

/** Rows that are held are due so much later. Nothing else is. */
export const hold = "interval '876000 hours'"

/** The condition that a time is of a row that is held. */
export const isHeld = (column: string): string => `${column} > now() + interval '438000 hours'`

const lockTimeout = "500ms"

/** Waits a short time for locks, and tries again: everything else waits behind a statement that waits for one. */
export const withLocks = <A, E>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError.SqlError> =>
  sql.withTransaction(Effect.andThen(sql`SELECT set_config('lock_timeout', ${lockTimeout}, true)`, effect)).pipe(
    Effect.retry({
      schedule: Schedule.spaced("250 millis"),
      while: (error) => SqlErrors.isLockTimeout(error) || SqlErrors.isDeadlock(error),
      times: 120
    })
  )

const fence = [
  "CREATE TRIGGER refuse_moved BEFORE INSERT ON idempotency_records FOR EACH ROW EXECUTE FUNCTION refuse_moved('organization_id')",
  "CREATE TRIGGER refuse_moved BEFORE INSERT OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION refuse_moved('organization_id')",
  "CREATE TRIGGER refuse_moved BEFORE INSERT OR UPDATE ON webhook_endpoints FOR EACH ROW EXECUTE FUNCTION refuse_moved('organization_id')",
  "CREATE TRIGGER refuse_moved BEFORE INSERT OR UPDATE OR DELETE ON offline_certificates FOR EACH ROW EXECUTE FUNCTION refuse_moved('id')",
  "CREATE TRIGGER refuse_moved BEFORE UPDATE OF credential, credential_state ON organizations FOR EACH ROW EXECUTE FUNCTION refuse_moved('id')"
]

const fenced = ["idempotency_records", "api_keys", "webhook_endpoints", "offline_certificates", "organizations"]

/** The tables whose writers are waited for, so that none of them writes after the freeze what it began before. */
export const lockFenced = `LOCK TABLE ${fenced.join(", ")} IN SHARE ROW EXCLUSIVE MODE`

// Every write of a request goes through one of these tables first. The function reads the state as it is at that moment, not as
// of the snapshot of the statement.
const refuseMoved = `
  CREATE OR REPLACE FUNCTION refuse_moved() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    owner   text    := coalesce(to_jsonb(NEW), to_jsonb(OLD)) ->> TG_ARGV[0];
    context text    := to_jsonb(NEW) ->> 'credential_context';
    changes boolean := context IS DISTINCT FROM to_jsonb(OLD) ->> 'credential_context';
  BEGIN
    IF current_setting('govoice.moving', true) IS DISTINCT FROM 'on' AND (
      EXISTS (
        SELECT FROM cell_moves
        WHERE bucket = ${bucketOf("organization", "owner")} AND (changes OR step NOT IN ('copying', 'draining'))
      ) OR changes AND EXISTS (
        SELECT FROM cell_moves CROSS JOIN LATERAL unnest(contexts) AS moving
        WHERE step <> 'moved' AND left(moving, 10) = left(context, 10)
      )
    ) THEN
      RAISE EXCEPTION 'Organization % is moved to another cell', owner USING ERRCODE = '${SqlErrors.movedState}';
    END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
  END
  $$
`

/** Makes the fence, unless this cell has it. */
export const makeFence = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const found = yield* sql`
    SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'refuse_moved' AND tgrelid = ANY (${textArray(fenced)}::regclass[])
  `
  yield* sql.unsafe(refuseMoved)
  if (found.length === fenced.length) return
  for (const [index, statement] of fence.entries()) {
    yield* withLocks(
      sql,
      Effect.andThen(sql.unsafe(`DROP TRIGGER IF EXISTS refuse_moved ON ${fenced[index]}`), sql.unsafe(statement))
    )
  }
})

/** Lets this transaction write what the fence refuses. */
export const passFence = (sql: SqlClient.SqlClient) => sql`SELECT set_config('govoice.moving', 'on', true)`

/** Reads the move of a bucket. */
export const read = (sql: SqlClient.SqlClient, bucket: string): Effect.Effect<Move | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<Move>`
      SELECT lead, target, step, contexts, held,
             ARRAY(SELECT bucket FROM cell_moves AS member WHERE member.lead = whole.lead ORDER BY 1) AS buckets
      FROM cell_moves AS whole
      WHERE bucket = (SELECT lead FROM cell_moves WHERE bucket = ${bucket})
    `,
    ([row]) => row
  )

/** Stores the step of a move. */
export const setStep = (sql: SqlClient.SqlClient, { lead }: Pick<Move, "lead">, step: Step) =>
  sql`UPDATE cell_moves SET step = ${step} WHERE lead = ${lead}`

/** The identifiers of the organizations of a move. */
export const organizationsOf = (
  sql: SqlClient.SqlClient,
  buckets: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ readonly id: string }>`
      SELECT id FROM organizations WHERE ${sql.literal(bucketOf("organization"))} = ANY (${textArray(buckets)}) ORDER BY id
    `,
    (rows) => rows.map(({ id }) => id)
  )

/** How the names of publications, subscriptions and slots of moves begin. */
export const namePrefix = "govoice_move_"

/** Whether rows are being copied from another cell, or to one. */
export const isCopying: Effect.Effect<boolean, SqlError.SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.map(
      sql`
        SELECT 1 FROM pg_subscription
        WHERE starts_with(subname, ${namePrefix}) AND ${sql.literal(ofThisDatabase)}
        UNION ALL
        SELECT 1 FROM cell_moves WHERE step <> 'moved'
      `,
      (rows) => rows.length > 0
    )
)

/** A move that has not ended, for people. */
export interface Unfinished {
  readonly organizations: ReadonlyArray<string>
  readonly target: string
  readonly step: Step
  readonly started_at: Date
}

/** Reads the moves out of this cell that have not ended. */
export const unfinished: Effect.Effect<
  ReadonlyArray<Unfinished>,
  SqlError.SqlError,
  SqlClient.SqlClient
> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Unfinished>`
      SELECT target, step, started_at, ARRAY(
        SELECT id FROM organizations JOIN cell_moves AS member ON member.bucket = ${sql.literal(bucketOf("organization"))}
        WHERE member.lead = whole.lead ORDER BY id
      ) AS organizations
      FROM cell_moves AS whole WHERE bucket = lead AND step <> 'moved' ORDER BY started_at
    `
)
