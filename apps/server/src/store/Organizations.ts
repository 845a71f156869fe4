/**
 * Keeps organizations and their credentials for the national system.
 *
 * Every statement names the account, so that no identifier alone can reach a row.
 *
 * @since 0.1.0
 */
import type { Organization } from "@govoice/api"
import { Ids } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { KeyRing } from "../security/KeyRing.ts"
import * as NewId from "../security/NewId.ts"
import { iso, isoOrNull } from "./Instant.ts"
import * as Page from "./Page.ts"

/**
 * The account has no such organization. One of another account counts as absent.
 *
 * @category errors
 * @since 0.1.0
 */
export class OrganizationNotFound extends Data.TaggedError("OrganizationNotFound") {}

/**
 * Service that stores and finds the organizations of an account.
 *
 * @category services
 * @since 0.1.0
 */
export class Organizations extends Context.Service<
  Organizations,
  {
    readonly create: (accountId: Ids.AccountId, name: string) => Effect.Effect<Organization.Organization>
    readonly list: (
      accountId: Ids.AccountId,
      page: Page.PageRequest
    ) => Effect.Effect<Page.Page<Organization.Organization>>
    readonly find: (
      accountId: Ids.AccountId,
      id: string
    ) => Effect.Effect<Organization.Organization, OrganizationNotFound>
    /** Without a name, nothing changes. */
    readonly rename: (
      accountId: Ids.AccountId,
      id: string,
      name: string | undefined
    ) => Effect.Effect<Organization.Organization, OrganizationNotFound>
    readonly putCredential: (
      accountId: Ids.AccountId,
      id: string,
      credential: { readonly token: string; readonly contextNip: string }
    ) => Effect.Effect<void, OrganizationNotFound>
    readonly deleteCredential: (accountId: Ids.AccountId, id: string) => Effect.Effect<void, OrganizationNotFound>
  }
>()("@govoice/server/store/Organizations") {}

interface Row {
  readonly id: Ids.OrganizationId
  readonly name: string
  readonly created_at: Date
  readonly credential_updated_at: Date | null
}

const toRecord = ({ created_at, credential_updated_at, id, name }: Row): Organization.Organization => ({
  id,
  object: "organization",
  name,
  gateway_credential: { present: credential_updated_at !== null, updated_at: isoOrNull(credential_updated_at) },
  created_at: iso(created_at)
})

/**
 * Layer that provides `Organizations` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Organizations, never, SqlClient.SqlClient | KeyRing> = Layer.effect(
  Organizations,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tail = yield* Page.makeTail
    const keyRing = yield* KeyRing
    const columns = sql`id, name, created_at, credential_updated_at`

    const insert = (id: Ids.OrganizationId, accountId: Ids.AccountId, name: string, now: Date) => sql<Row>`
      WITH lane AS (INSERT INTO lanes (organization_id) VALUES (${id}))
      INSERT INTO organizations (id, account_id, name, created_at)
      VALUES (${id}, ${accountId}, ${name}, ${now})
      RETURNING ${columns}
    `

    const selectOne = (accountId: Ids.AccountId, id: Ids.OrganizationId) => sql<Row>`
      SELECT ${columns} FROM organizations WHERE account_id = ${accountId} AND id = ${id}
    `

    const selectPage = (accountId: Ids.AccountId, page: Page.PageRequest) => sql<Row>`
      SELECT ${columns} FROM organizations WHERE account_id = ${accountId} ${tail(page)}
    `

    const updateName = (accountId: Ids.AccountId, id: Ids.OrganizationId, name: string | undefined) => sql<Row>`
      UPDATE organizations SET name = coalesce(${name ?? null}, name)
      WHERE account_id = ${accountId} AND id = ${id}
      RETURNING ${columns}
    `

    const updateCredential = (
      accountId: Ids.AccountId,
      id: Ids.OrganizationId,
      credential: { readonly sealed: Uint8Array; readonly nip: string; readonly now: Date } | undefined
    ) => sql`
      UPDATE organizations
      SET credential            = ${credential?.sealed ?? null}::bytea,
          credential_nip        = ${credential?.nip ?? null},
          credential_updated_at = ${credential?.now ?? null}::timestamptz
      WHERE account_id = ${accountId} AND id = ${id}
      RETURNING id
    `

    const orNotFound = Effect.fnUntraced(function* <A>(
      id: string,
      query: (id: Ids.OrganizationId) => Effect.Effect<ReadonlyArray<A>, unknown>
    ) {
      const [row] = Ids.is("org", id) ? yield* Effect.orDie(query(id)) : []
      return row ?? (yield* new OrganizationNotFound())
    })

    return {
      create: Effect.fn("Organizations.create")(function* (accountId, name) {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Effect.orDie(insert(NewId.at("org", now), accountId, name, new Date(now)))
        return toRecord(row!)
      }),

      list: Effect.fn("Organizations.list")(function* (accountId, page) {
        return Page.fromRows(yield* Effect.orDie(selectPage(accountId, page)), page, toRecord)
      }),

      find: Effect.fn("Organizations.find")((accountId, id) =>
        Effect.map(
          orNotFound(id, (valid) => selectOne(accountId, valid)),
          toRecord
        )
      ),

      rename: Effect.fn("Organizations.rename")((accountId, id, name) =>
        Effect.map(
          orNotFound(id, (valid) => updateName(accountId, valid, name)),
          toRecord
        )
      ),

      putCredential: Effect.fn("Organizations.putCredential")(function* (accountId, id, { contextNip, token }) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const sealed = keyRing.seal(token, { column: "organizations.credential", row: id })
        yield* orNotFound(id, (valid) => updateCredential(accountId, valid, { sealed, nip: contextNip, now }))
      }),

      deleteCredential: Effect.fn("Organizations.deleteCredential")(function* (accountId, id) {
        yield* orNotFound(id, (valid) => updateCredential(accountId, valid, undefined))
      })
    }
  })
)
