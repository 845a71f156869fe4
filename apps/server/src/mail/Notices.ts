/**
 * What owners should know: endpoints that fail or were switched off, credentials and certificates that expire, logins by token that
 * end. One query finds it for the mails, for the console and for `govoice notices`.
 *
 * That an owner was told is noted on the row that a notice is about, after the mail was sent. A process that dies in between leaves
 * it untold, and the mail is sent again: an owner may get it twice, and never none.
 */
import type { Ids } from "@govoice/core"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Language } from "../accounts/PasswordResets.ts"
import { isServedBy } from "../cells/directoryTables.ts"
import { StatementTime } from "../database/StatementTime.ts"
import { selectEndpointNotices, tellEndpoint } from "../deliveries/notices.sql.ts"
import { selectCredentialNotices, tellCredential } from "../invoices/ksef/notices.sql.ts"
import { Settings } from "../settings/Settings.ts"

interface Row {
  readonly organization_id: Ids.OrganizationId
  readonly organization_name: string
  readonly is_told: boolean
  /** Names the notice on its row. */
  readonly key: string
  /** When the row changed last, in the way that matters. */
  readonly version: Date
}

/** A notice about an endpoint. */
export interface EndpointNotice extends Row {
  readonly kind: "endpoint_disabled" | "endpoint_failing"
  readonly endpoint_id: Ids.EndpointId
  readonly url: string
  /** Since when it fails. */
  readonly at: Date
}

/** A notice that an endpoint works again. */
export interface RecoveryNotice extends Omit<EndpointNotice, "kind" | "at"> {
  readonly kind: "endpoint_recovered"
  readonly at: null
}

/** A notice about a credential or an offline certificate. */
export interface ExpiryNotice extends Row {
  readonly kind: "credential_expiring" | "offline_certificate_expiring"
  readonly endpoint_id: null
  readonly url: null
  /** When it expires. */
  readonly at: Date
}

/** A notice that logins by token end. */
export interface TokenNotice extends Row {
  readonly kind: "token_login_ending"
  readonly endpoint_id: null
  readonly url: null
  readonly at: null
}

/** What holds now. */
export type StandingNotice = EndpointNotice | ExpiryNotice | TokenNotice

/** What an owner is told. */
export type Notice = StandingNotice | RecoveryNotice

/** An owner who has not been told everything. */
export interface DueAccount {
  readonly id: Ids.AccountId
  readonly email: string
  readonly language: Language
}

/** Finds notices, and notes that owners were told. */
export class Notices extends Context.Service<
  Notices,
  {
    /** What holds now: in an organization, or in all of them. */
    readonly standing: (organizationId?: Ids.OrganizationId) => Effect.Effect<ReadonlyArray<StandingNotice>>
    /** Takes an account that was not told everything. Nobody takes it again for 15 minutes, so that it gets no more mails than that. */
    readonly take: Effect.Effect<DueAccount | undefined>
    /** What the owner of an account was not told. */
    readonly untold: (accountId: Ids.AccountId) => Effect.Effect<ReadonlyArray<Notice>>
    /** Notes that the owner was told all this. */
    readonly told: (notices: ReadonlyArray<Notice>) => Effect.Effect<void>
  }
>()("@govoice/server/mail/Notices") {}

/** Provides `Notices` from a migrated database. */
export const layer: Layer.Layer<Notices, never, Settings | SqlClient.SqlClient> = Layer.effect(
  Notices,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { cell, ksef } = yield* Settings
    const environment = ksef.environmentId ?? null
    const statementTime = (yield* StatementTime)(sql)

    // While an organization moves, two cells have its rows. The one that serves it tells its owner.
    const isServed = isServedBy(sql, cell?.name, "organization.id")

    const all = Effect.map(
      statementTime,
      (now) => sql`
        (${selectEndpointNotices(sql, now)} UNION ALL ${selectCredentialNotices(sql, now, environment)}) AS notice
        JOIN organizations AS organization ON organization.id = organization_id AND ${isServed}
      `
    )

    const columns = sql`notice.*, organization.name AS organization_name`
    const order = sql`ORDER BY organization_id, kind, endpoint_id`

    const selectStanding = (organizationId: Ids.OrganizationId | undefined) =>
      Effect.flatMap(
        all,
        (notices) => sql<StandingNotice>`
          SELECT ${columns} FROM ${notices}
          WHERE kind <> 'endpoint_recovered' ${organizationId === undefined ? sql`` : sql`AND organization_id = ${organizationId}`} ${order}
        `
      )

    const selectUntold = (accountId: Ids.AccountId) =>
      Effect.flatMap(
        all,
        (notices) =>
          sql<Notice>`SELECT ${columns} FROM ${notices} WHERE account_id = ${accountId} AND NOT is_told ${order}`
      )

    const takeOne = Effect.gen(function* () {
      const now = yield* statementTime
      return yield* sql<DueAccount>`
        UPDATE accounts SET notices_due_at = ${now} + interval '15 minutes'
        WHERE id = (
          SELECT id FROM accounts
          WHERE (notices_due_at IS NULL OR notices_due_at <= ${now})
            AND id IN (SELECT account_id FROM ${yield* all} WHERE NOT is_told)
          ORDER BY notices_due_at NULLS FIRST LIMIT 1 FOR UPDATE SKIP LOCKED
        )
        RETURNING id, email, language
      `
    })

    const tell = (notice: Notice) =>
      notice.endpoint_id === null
        ? tellCredential(sql, notice.kind, { ...notice, id: notice.organization_id })
        : tellEndpoint(sql, notice.kind, notice.endpoint_id)

    return {
      standing: Effect.fn("Notices.standing")(function* (organizationId) {
        return yield* Effect.orDie(selectStanding(organizationId))
      }),

      take: Effect.map(Effect.orDie(takeOne), ([row]) => row).pipe(Effect.withSpan("Notices.take")),

      untold: Effect.fn("Notices.untold")(function* (accountId) {
        return yield* Effect.orDie(selectUntold(accountId))
      }),

      // Each row by itself: a transaction would hold the locks of several, which completions take in another order.
      told: Effect.fn("Notices.told")(function* (notices) {
        yield* Effect.orDie(Effect.forEach(notices, tell, { discard: true }))
      })
    }
  })
)
