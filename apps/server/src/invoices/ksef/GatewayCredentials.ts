/**
 * The credentials of organizations for the national system, in columns of the `organizations` table.
 *
 * A credential belongs to the environment that it was stored for. While the deployment uses another one, it counts as
 * absent.
 */
import type { GatewayCredential } from "@govoice/api"
import { Ids } from "@govoice/core"
import { ContextIdentifier } from "@govoice/ksef/format"
import { Cause, Context, Data, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { KeyRing, KeyUnavailable } from "../../crypto/KeyRing.ts"
import { StatementTime } from "../../database/StatementTime.ts"
import * as Taxpayers from "../../cells/Taxpayers.ts"
import { iso, isoOrNull } from "../../database/timestamps.ts"
import { NationalSystem } from "./NationalSystem.ts"
import * as LaneQueue from "./LaneQueue.ts"
import { reasonOf } from "../../observability/reasonOf.ts"
import { Settings } from "../../settings/Settings.ts"
import { OrganizationNotFound, orNotFound } from "../../accounts/Organizations.ts"

/** The secret part of a credential. */
export type Credential =
  | { readonly type: "ksef_token"; readonly token: Redacted.Redacted }
  /** Both in PEM, the key without a password. */
  | { readonly type: "certificate"; readonly certificate: string; readonly privateKey: Redacted.Redacted }

/** A credential that was checked. */
export interface CheckedCredential {
  readonly credential: Credential
  readonly context: ContextIdentifier.ContextIdentifier
  readonly expiresAt: Date | undefined
}

/** A credential as a login needs it. `updatedAt` identifies it among those of its organization. */
export interface StoredCredential {
  readonly credential: Credential
  readonly context: ContextIdentifier.ContextIdentifier
  readonly environment: string | null
  readonly updatedAt: Date
}

/** The code and the message with which the national system refused a credential. */
export interface CredentialRefusal {
  readonly code: string
  readonly message: string
}

/** Another cell serves the taxpayer of the credential. */
export class ServedByOtherCell extends Data.TaggedError("ServedByOtherCell")<{ readonly cell: string }> {
  /** What to do, for the owner of an organization. */
  remedy(organization: string): string {
    return `invoices of this taxpayer are sent by cell ${this.cell}, where its limits are counted. Have the operator move the organization there: govoice cells move ${organization} --to ${this.cell}`
  }
}

/** Stores, describes and opens credentials. */
export class GatewayCredentials extends Context.Service<
  GatewayCredentials,
  {
    /** Replaces the credential of an organization. Its state becomes `unchecked`, and its lane is woken. */
    readonly put: (
      accountId: Ids.AccountId,
      id: string,
      credential: CheckedCredential
    ) => Effect.Effect<void, OrganizationNotFound | ServedByOtherCell | Taxpayers.ControlCellUnavailable>
    /** Describes the credential without its secrets. */
    readonly describe: (
      accountId: Ids.AccountId,
      id: string
    ) => Effect.Effect<GatewayCredential.GatewayCredential, OrganizationNotFound>
    /** Deletes the credential of any environment, and its login. Revokes the login at KSeF if KSeF can be reached. */
    readonly remove: (accountId: Ids.AccountId, id: string) => Effect.Effect<void, OrganizationNotFound>
    /** Whether an organization may submit in live mode: the deployment has a national system, and it a credential for that. */
    readonly isLiveModeAvailable: (id: Ids.OrganizationId) => Effect.Effect<boolean>
    /** Opens the credential. */
    readonly read: (id: Ids.OrganizationId) => Effect.Effect<Option.Option<StoredCredential>, KeyUnavailable>
    /** Has the cell of this process serve the taxpayer of an accepted credential, unless another one does. */
    readonly claimTaxpayer: (
      context: string
    ) => Effect.Effect<void, ServedByOtherCell | Taxpayers.ControlCellUnavailable>
    /** Records how a login ended, unless the credential was replaced meanwhile. Returns whether it was recorded. */
    readonly recordState: (
      id: Ids.OrganizationId,
      updatedAt: Date,
      state: "accepted" | "refused",
      refusal?: CredentialRefusal
    ) => Effect.Effect<boolean>
  }
>()("@govoice/server/invoices/ksef/GatewayCredentials") {}

interface Row {
  readonly credential_kind: Credential["type"]
  readonly credential_environment: string | null
  readonly credential_context: string
  readonly credential_expires_at: Date | null
  readonly credential_state: GatewayCredential.State
  readonly credential_checked_at: Date | null
  readonly credential_refusal: CredentialRefusal | null
  readonly credential_updated_at: Date
}

interface SealedRow {
  readonly credential: Uint8Array
  readonly credential_context: string
  readonly credential_environment: string | null
  readonly credential_updated_at: Date
}

const absent: GatewayCredential.GatewayCredential = {
  object: "gateway_credential",
  present: false,
  type: null,
  context: null,
  environment: null,
  expires_at: null,
  state: null,
  checked_at: null,
  refusal: null,
  updated_at: null
}

const toApi = (row: Row): GatewayCredential.GatewayCredential => ({
  object: "gateway_credential",
  present: true,
  type: row.credential_kind,
  context: ContextIdentifier.ofValue(row.credential_context),
  environment: row.credential_environment,
  expires_at: isoOrNull(row.credential_expires_at),
  state: row.credential_state,
  checked_at: isoOrNull(row.credential_checked_at),
  refusal: row.credential_refusal,
  updated_at: iso(row.credential_updated_at)
})

const encode = (credential: Credential): string =>
  JSON.stringify(
    credential.type === "ksef_token"
      ? { ...credential, token: Redacted.value(credential.token) }
      : { ...credential, privateKey: Redacted.value(credential.privateKey) }
  )

type Encoded =
  | { readonly type: "ksef_token"; readonly token: string }
  | { readonly type: "certificate"; readonly certificate: string; readonly privateKey: string }

const decode = (text: string): Credential => {
  const encoded = JSON.parse(text) as Encoded
  return encoded.type === "ksef_token"
    ? { ...encoded, token: Redacted.make(encoded.token) }
    : { ...encoded, privateKey: Redacted.make(encoded.privateKey) }
}

// The statements, for the environment of the deployment.
const makeStatements = (
  sql: SqlClient.SqlClient,
  environment: string | null,
  statementTime: Effect.Effect<Statement.Fragment>
) => {
  const present = sql`credential IS NOT NULL AND credential_environment IS NOT DISTINCT FROM ${environment}::text`
  const waitsForCredential = sql`failure->>'code' IN ('gateway_credential_missing', 'gateway_credential_refused')`

  return {
    // `credential_updated_at` identifies a credential, also of two that are stored in the same millisecond.
    update: (accountId: Ids.AccountId, id: Ids.OrganizationId, sealed: Uint8Array, checked: CheckedCredential) => sql<{
      readonly context: string
    }>`
      UPDATE organizations
      SET credential             = ${sealed},
          credential_kind        = ${checked.credential.type},
          credential_environment = ${environment},
          credential_context     = ${checked.context.value},
          credential_expires_at  = ${checked.expiresAt ?? null}::timestamptz,
          credential_state       = 'unchecked',
          credential_checked_at  = NULL,
          credential_refusal     = NULL,
          credential_refusals    = 0,
          credential_told        = '{}',
          credential_updated_at  = date_trunc(
            'milliseconds', greatest(now(), credential_updated_at + interval '1 millisecond')
          )
      WHERE account_id = ${accountId} AND id = ${id}
      RETURNING credential_context AS context
    `,

    lockOne: (accountId: Ids.AccountId, id: Ids.OrganizationId) => sql<{ readonly context: string | null }>`
      SELECT credential_context AS context FROM organizations WHERE account_id = ${accountId} AND id = ${id} FOR NO KEY UPDATE
    `,

    // Invoices that show that the credential is missing or refused wait for it no more.
    retryAtOnce: (id: Ids.OrganizationId) =>
      Effect.flatMap(
        statementTime,
        (now) => sql`
          UPDATE invoices SET due_at = ${now}, next_attempt_at = ${now}
          WHERE organization_id = ${id} AND mode = 'live' AND status = 'retrying' AND due_at > ${now} AND ${waitsForCredential}
        `
      ),

    // Nor do those that were sent, once a login succeeds: before, their verdicts and receipts would be postponed again. The holder of
    // the lane may write some of them at the same time, and has looked at them.
    readSentAtOnce: (id: Ids.OrganizationId) =>
      Effect.flatMap(
        statementTime,
        (now) => sql`
          UPDATE national_submissions SET due_at = ${now} WHERE id IN (
            SELECT submission.id FROM organizations
            JOIN national_submissions AS submission ON context = credential_context AND organization_id = organizations.id
            JOIN invoices ON invoices.id = invoice_id
            WHERE organizations.id = ${id} AND submission.due_at > ${now}
              AND (state = 'decided' OR state IN ('sending', 'sent') AND ${waitsForCredential})
            FOR UPDATE OF submission SKIP LOCKED
          )
        `
      ),

    // Nor do batches. Their invoices have no times of their own, and wait for KSeF alone from then on.
    readBatchesAtOnce: (id: Ids.OrganizationId) =>
      Effect.flatMap(
        statementTime,
        (now) => sql`
          WITH batch AS (
            UPDATE national_sessions SET due_at = least(due_at, ${now}) WHERE id IN (
              SELECT session.id FROM organizations
              JOIN national_sessions AS session ON context = credential_context AND organization_id = organizations.id
              WHERE organizations.id = ${id} AND kind = 'batch' AND state NOT IN ('done', 'abandoned') AND session.due_at IS NOT NULL
              FOR UPDATE OF session SKIP LOCKED
            )
            RETURNING id
          )
          UPDATE invoices SET failure = NULL WHERE id IN (
            SELECT invoices.id FROM batch
            JOIN national_submissions AS submission ON session_id = batch.id AND submission.state IN ('sending', 'sent')
            JOIN invoices ON invoices.id = invoice_id AND ${waitsForCredential}
            FOR UPDATE OF invoices SKIP LOCKED
          )
        `
      ),

    deleteLogin: (id: Ids.OrganizationId) => sql<{ readonly refresh_token: Uint8Array }>`
      DELETE FROM national_logins WHERE id = ${id} RETURNING refresh_token
    `,

    clear: (accountId: Ids.AccountId, id: Ids.OrganizationId) => sql`
      UPDATE organizations
      SET credential = NULL, credential_kind = NULL, credential_environment = NULL, credential_context = NULL,
          credential_expires_at = NULL, credential_state = NULL, credential_checked_at = NULL, credential_refusal = NULL,
          credential_updated_at = NULL, credential_refusals = 0, credential_told = '{}'
      WHERE account_id = ${accountId} AND id = ${id}
    `,

    selectDescription: (accountId: Ids.AccountId, id: Ids.OrganizationId) => sql<Row & { readonly present: boolean }>`
      SELECT ${present} AS present, credential_kind, credential_environment, credential_context, credential_expires_at,
             credential_state, credential_checked_at, credential_refusal, credential_updated_at
      FROM organizations WHERE account_id = ${accountId} AND id = ${id}
    `,

    // Nothing is submitted while the database is of another environment: it would reach that one.
    selectUsable: (id: Ids.OrganizationId) => sql`
      SELECT 1 FROM organizations
      WHERE id = ${id} AND ${present} AND NOT EXISTS (SELECT 1 FROM national_environment WHERE environment <> credential_environment)
    `,

    selectSealed: (id: Ids.OrganizationId) => sql<SealedRow>`
      SELECT credential, credential_context, credential_environment, credential_updated_at
      FROM organizations WHERE id = ${id} AND ${present}
    `,

    updateState: (
      id: Ids.OrganizationId,
      updatedAt: Date,
      state: "accepted" | "refused",
      refusal: CredentialRefusal | null
    ) =>
      Effect.flatMap(
        statementTime,
        (now) => sql`
          UPDATE organizations
          SET credential_state = ${state}, credential_checked_at = ${now},
              credential_refusal = ${refusal === null ? null : JSON.stringify(refusal)}::jsonb,
              credential_refusals = CASE ${state} WHEN 'refused' THEN credential_refusals + 1 ELSE 0 END
          WHERE id = ${id} AND credential_updated_at = ${updatedAt}::timestamptz
          RETURNING id
        `
      )
  }
}

/** Provides `GatewayCredentials` from a migrated database, for the environment of the settings. */
export const layer: Layer.Layer<GatewayCredentials, never, SqlClient.SqlClient | KeyRing | Settings> = Layer.effect(
  GatewayCredentials,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const keyRing = yield* KeyRing
    const environment = (yield* Settings).ksef.environmentId ?? null
    const statements = makeStatements(sql, environment, (yield* StatementTime)(sql))
    // References are read here: the context of a request has none of the server's.
    const national = yield* NationalSystem
    const wakeLane = yield* LaneQueue.makeWake
    const taxpayers = yield* Taxpayers.makeClaims

    // A lane is of an environment, too: without one there are none.
    const wake = (context: string) => (environment === null ? Effect.void : wakeLane(context))

    const removeAll = Effect.fnUntraced(function* (accountId: Ids.AccountId, id: Ids.OrganizationId) {
      const [row] = yield* statements.lockOne(accountId, id)
      if (row === undefined) return undefined
      const [login] = yield* statements.deleteLogin(id)
      yield* statements.clear(accountId, id)
      if (row.context !== null) yield* wake(row.context)
      return { sealedRefreshToken: login?.refresh_token }
    }, sql.withTransaction)

    // A login that stays open at KSeF ends by itself: a deletion does not wait for it, and succeeds without.
    const revoke = (id: string, sealed: Uint8Array) =>
      Effect.gen(function* () {
        if (national === undefined) return
        const token = Redacted.make(keyRing.open(sealed, { column: "national_logins.refresh_token", row: id }))
        yield* national.client.revoke(token)
      }).pipe(
        Effect.timeout("5 seconds"),
        Effect.catchCause((cause) =>
          Effect.logWarning("KSeF login not revoked").pipe(
            Effect.annotateLogs({ organizationId: id, reason: reasonOf(Cause.squash(cause)) })
          )
        )
      )

    return {
      put: Effect.fn("GatewayCredentials.put")(function* (accountId, id, checked) {
        if (taxpayers !== undefined) {
          yield* orNotFound(id, (valid) => statements.selectDescription(accountId, valid))
          const cell = yield* taxpayers.otherCellOf(ContextIdentifier.nip(checked.context.value))
          if (cell !== undefined) return yield* new ServedByOtherCell({ cell })
        }
        const sealed = keyRing.seal(encode(checked.credential), { column: "organizations.credential", row: id })
        yield* orNotFound(id, (valid) =>
          Effect.tap(
            sql.withTransaction(
              Effect.tap(statements.update(accountId, valid, sealed, checked), ([row]) =>
                row === undefined ? Effect.void : Effect.andThen(statements.retryAtOnce(valid), wake(row.context))
              )
            ),
            // Once more when it is committed: a holder that released the lane meanwhile did not see the credential.
            ([row]) => (row === undefined ? Effect.void : wake(row.context))
          )
        )
      }),

      describe: Effect.fn("GatewayCredentials.describe")(function* (accountId, id) {
        const row = yield* orNotFound(id, (valid) => statements.selectDescription(accountId, valid))
        return row.present ? toApi(row) : absent
      }),

      remove: Effect.fn("GatewayCredentials.remove")(function* (accountId, id) {
        const removed = Ids.is("org", id) ? yield* Effect.orDie(removeAll(accountId, id)) : undefined
        if (removed === undefined) return yield* new OrganizationNotFound()
        if (removed.sealedRefreshToken !== undefined) yield* revoke(id, removed.sealedRefreshToken)
      }),

      isLiveModeAvailable: Effect.fn("GatewayCredentials.isLiveModeAvailable")(function* (id) {
        return national !== undefined && (yield* Effect.orDie(statements.selectUsable(id))).length > 0
      }),

      read: Effect.fn("GatewayCredentials.read")(function* (id) {
        const [row] = yield* Effect.orDie(statements.selectSealed(id))
        if (row === undefined) return Option.none()
        const opened = yield* Effect.try({
          try: () => keyRing.open(row.credential, { column: "organizations.credential", row: id }),
          catch: (error) => error
        }).pipe(Effect.catch((error) => (error instanceof KeyUnavailable ? Effect.fail(error) : Effect.die(error))))
        return Option.some({
          credential: decode(opened),
          context: ContextIdentifier.ofValue(row.credential_context),
          environment: row.credential_environment,
          updatedAt: row.credential_updated_at
        })
      }),

      claimTaxpayer: Effect.fn("GatewayCredentials.claimTaxpayer")(function* (context) {
        const cell = yield* taxpayers?.claim(ContextIdentifier.nip(context)) ?? Effect.succeed(undefined)
        if (cell !== undefined) return yield* new ServedByOtherCell({ cell })
      }),

      recordState: Effect.fn("GatewayCredentials.recordState")(function* (id, updatedAt, state, refusal) {
        // Together: nobody reads at once what waits for a credential that is accepted already.
        const record = Effect.gen(function* () {
          const isRecorded = (yield* statements.updateState(id, updatedAt, state, refusal ?? null)).length > 0
          if (isRecorded && state === "accepted")
            yield* Effect.andThen(statements.readSentAtOnce(id), statements.readBatchesAtOnce(id))
          return isRecorded
        })
        return yield* Effect.orDie(sql.withTransaction(record))
      })
    }
  })
)

/** How many credentials of an environment are stored, and of which an operator has to take care. */
export interface CredentialCounts {
  readonly all: number
  readonly tokens: number
  /** The organizations with a token, the first 20 of them. */
  readonly token_examples: ReadonlyArray<string>
  readonly refused: number
  readonly refused_example: string | null
  /** Within 30 days. */
  readonly expiring: number
  readonly expiring_example: string | null
}

/** Counts the credentials of an environment. */
export const count = (environment: string): Effect.Effect<CredentialCounts, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<CredentialCounts>`
      WITH credential AS (
        SELECT id, credential_kind = 'ksef_token' AS is_token, credential_state = 'refused' AS is_refused,
               coalesce(credential_expires_at < now() + interval '30 days', false) AS is_expiring
        FROM organizations WHERE credential IS NOT NULL AND credential_environment = ${environment}
      )
      SELECT count(*)::int AS all, (count(*) FILTER (WHERE is_token))::int AS tokens,
             coalesce((array_agg(id ORDER BY id) FILTER (WHERE is_token))[1:20], '{}') AS token_examples,
             (count(*) FILTER (WHERE is_refused))::int AS refused, min(id) FILTER (WHERE is_refused) AS refused_example,
             (count(*) FILTER (WHERE is_expiring))::int AS expiring,
             min(id) FILTER (WHERE is_expiring) AS expiring_example
      FROM credential
    `
    return row!
  })
