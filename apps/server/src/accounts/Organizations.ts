/**
 * The `organizations` table.
 *
 * Every statement on behalf of an owner names the account, so that an identifier alone reaches no row.
 */
import type { Organization } from "@govoice/api"
import { Ids } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import * as IdGenerator from "../crypto/IdGenerator.ts"
import { makeOrNotFound } from "../database/orNotFound.ts"
import * as Page from "../database/Page.ts"
import { iso, isoOrNull } from "../database/timestamps.ts"
import { Settings } from "../settings/Settings.ts"

/** How many organizations an account may have. */
export const maxOrganizations = 100

/** The account has no such organization. An organization of another account counts as absent. */
export class OrganizationNotFound extends Data.TaggedError("OrganizationNotFound") {}

/** Runs a query of an organization by an identifier that a client sent, and returns its first row. */
export const orNotFound = makeOrNotFound("org", () => new OrganizationNotFound())

/** The account has as many organizations as it may have. */
export class TooManyOrganizations extends Data.TaggedError("TooManyOrganizations") {}

/** Stores and finds the organizations of an account. */
export class Organizations extends Context.Service<
  Organizations,
  {
    readonly create: (
      accountId: Ids.AccountId,
      name: string
    ) => Effect.Effect<Organization.Organization, TooManyOrganizations>
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
    /**
     * Locks an organization for the rest of the transaction, so that concurrent transactions count what it has one after
     * the other.
     */
    readonly lock: (
      accountId: Ids.AccountId,
      id: string
    ) => Effect.Effect<Ids.OrganizationId, OrganizationNotFound | SqlError.SqlError>
    /** Returns the account of an organization, for commands of the operator. */
    readonly ownerOf: (id: Ids.OrganizationId) => Effect.Effect<Ids.AccountId | undefined>
    /** Returns the condition that `organization_id` of another table is an organization of the account. */
    readonly ownedBy: (accountId: Ids.AccountId) => Statement.Fragment
  }
>()("@govoice/server/accounts/Organizations") {}

interface Row {
  readonly id: Ids.OrganizationId
  readonly name: string
  readonly created_at: Date
  readonly credential_updated_at: Date | null
}

const toApi = ({ created_at, credential_updated_at, id, name }: Row): Organization.Organization => ({
  id,
  object: "organization",
  name,
  gateway_credential: { present: credential_updated_at !== null, updated_at: isoOrNull(credential_updated_at) },
  created_at: iso(created_at)
})

/** Provides `Organizations` from a migrated database. */
export const layer: Layer.Layer<Organizations, never, SqlClient.SqlClient | Settings> = Layer.effect(
  Organizations,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tail = yield* Page.makeTail
    const environment = (yield* Settings).ksef.environmentId ?? null
    // A credential of another environment counts as absent.
    const columns = sql`
      id, name, created_at,
      CASE WHEN credential_environment IS NOT DISTINCT FROM ${environment}::text THEN credential_updated_at END
        AS credential_updated_at
    `

    const lockAccount = (id: Ids.AccountId) => sql`SELECT 1 FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`

    const countAll = (accountId: Ids.AccountId) => sql<{ readonly organizations: number }>`
      SELECT count(*)::int AS organizations FROM organizations WHERE account_id = ${accountId}
    `

    const insert = (id: Ids.OrganizationId, accountId: Ids.AccountId, name: string, now: Date) => sql<Row>`
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

    const selectOwner = (id: Ids.OrganizationId) => sql<{ readonly account_id: Ids.AccountId }>`
      SELECT account_id FROM organizations WHERE id = ${id}
    `

    const lockOne = (accountId: Ids.AccountId, id: Ids.OrganizationId) => sql`
      SELECT 1 FROM organizations WHERE account_id = ${accountId} AND id = ${id} FOR NO KEY UPDATE
    `

    return {
      create: Effect.fn("Organizations.create")(
        function* (accountId, name) {
          const now = yield* Clock.currentTimeMillis
          yield* lockAccount(accountId)
          const [count] = yield* countAll(accountId)
          if (count!.organizations >= maxOrganizations) return yield* new TooManyOrganizations()
          const [row] = yield* insert(IdGenerator.at("org", now), accountId, name, new Date(now))
          return toApi(row!)
        },
        (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
      ),

      list: Effect.fn("Organizations.list")(function* (accountId, page) {
        return Page.fromRows(yield* Effect.orDie(selectPage(accountId, page)), page, toApi)
      }),

      find: Effect.fn("Organizations.find")((accountId, id) =>
        Effect.map(
          orNotFound(id, (valid) => selectOne(accountId, valid)),
          toApi
        )
      ),

      rename: Effect.fn("Organizations.rename")((accountId, id, name) =>
        Effect.map(
          orNotFound(id, (valid) => updateName(accountId, valid, name)),
          toApi
        )
      ),

      lock: Effect.fn("Organizations.lock")(function* (accountId, id) {
        const [row] = Ids.is("org", id) ? yield* lockOne(accountId, id) : []
        return row === undefined || !Ids.is("org", id) ? yield* new OrganizationNotFound() : id
      }),

      ownerOf: Effect.fn("Organizations.ownerOf")(function* (id) {
        return (yield* Effect.orDie(selectOwner(id)))[0]?.account_id
      }),

      ownedBy: (accountId) => sql`organization_id IN (SELECT id FROM organizations WHERE account_id = ${accountId})`
    }
  })
)
