/**
 * The `api_keys` table. Of each key, only the SHA-256 is stored.
 */
import type { ApiKey } from "@govoice/api"
import { Ids, type Mode } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as IdGenerator from "../crypto/IdGenerator.ts"
import { HotStatements } from "../database/HotStatements.ts"
import * as Page from "../database/Page.ts"
import { iso, isoOrNull } from "../database/timestamps.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import { type OrganizationNotFound, Organizations } from "./Organizations.ts"

/** How many keys of an organization may be active at a time. */
export const maxActive = 50

/** The account has no such key. */
export class ApiKeyNotFound extends Data.TaggedError("ApiKeyNotFound") {}

/** The organization has as many active keys as it may have. */
export class TooManyApiKeys extends Data.TaggedError("TooManyApiKeys") {}

/** The key itself, and the account, organization and mode that it gives access to. */
export interface ApiKeyIdentity {
  readonly id: Ids.ApiKeyId
  readonly accountId: Ids.AccountId
  readonly organizationId: Ids.OrganizationId
  readonly mode: Mode.Mode
  /** In milliseconds since the epoch; `null` for a key that does not expire. */
  readonly expiresAt: number | null
}

/** Creates, finds and revokes API keys. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly create: (
      accountId: Ids.AccountId,
      organizationId: string,
      key: { readonly mode: Mode.Mode; readonly name: string | null; readonly expiresAt: Date | null }
    ) => Effect.Effect<ApiKey.NewApiKey, OrganizationNotFound | TooManyApiKeys>
    /** Returns the keys that are not revoked. */
    readonly list: (
      organizationId: Ids.OrganizationId,
      page: Page.PageRequest
    ) => Effect.Effect<Page.Page<ApiKey.ApiKey>>
    /** Revokes a key of the account and returns its hash. */
    readonly revoke: (accountId: Ids.AccountId, id: string) => Effect.Effect<Uint8Array, ApiKeyNotFound>
    /** Returns the key with this hash, unless it is unknown or revoked. */
    readonly findIdentity: (hash: Uint8Array) => Effect.Effect<ApiKeyIdentity | undefined>
    readonly describe: (
      key: Pick<ApiKeyIdentity, "id" | "organizationId">
    ) => Effect.Effect<Omit<ApiKey.Me, "live_mode_available"> | undefined>
  }
>()("@govoice/server/accounts/ApiKeys") {}

interface Row {
  readonly id: Ids.ApiKeyId
  readonly organization_id: Ids.OrganizationId
  readonly mode: Mode.Mode
  readonly name: string | null
  readonly last4: string
  readonly created_at: Date
  readonly expires_at: Date | null
}

const toApi = (row: Row): ApiKey.ApiKey => ({
  id: row.id,
  object: "api_key",
  organization_id: row.organization_id,
  mode: row.mode,
  name: row.name,
  last4: row.last4,
  created_at: iso(row.created_at),
  expires_at: isoOrNull(row.expires_at)
})

/** Provides `ApiKeys` from a migrated database. */
export const layer: Layer.Layer<ApiKeys, never, Organizations | SqlClient.SqlClient> = Layer.effect(
  ApiKeys,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const organizations = yield* Organizations
    const tail = yield* Page.makeTail
    const columns = sql`id, organization_id, mode, name, last4, created_at, expires_at`

    const countActive = (organizationId: Ids.OrganizationId, now: Date) => sql<{ readonly active: number }>`
      SELECT count(*)::int AS active FROM api_keys
      WHERE organization_id = ${organizationId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})
    `

    const insert = (row: Row, hash: Uint8Array) => sql<Row>`
      INSERT INTO api_keys (id, organization_id, mode, name, last4, created_at, expires_at, hash)
      VALUES (
        ${row.id}, ${row.organization_id}, ${row.mode}, ${row.name}, ${row.last4}, ${row.created_at},
        ${row.expires_at}::timestamptz, ${hash}
      )
    `

    const selectPage = (organizationId: Ids.OrganizationId, page: Page.PageRequest) => sql<Row>`
      SELECT ${columns} FROM api_keys WHERE organization_id = ${organizationId} AND revoked_at IS NULL ${tail(page)}
    `

    const updateRevoked = (accountId: Ids.AccountId, id: Ids.ApiKeyId, now: Date) => sql<{ readonly hash: Uint8Array }>`
      UPDATE api_keys SET revoked_at = ${now}
      FROM organizations
      WHERE api_keys.id = ${id} AND revoked_at IS NULL
        AND organizations.id = organization_id AND account_id = ${accountId}
      RETURNING hash
    `

    const selectIdentity = (hash: Uint8Array) => sql<
      Pick<Row, "id" | "organization_id" | "mode" | "expires_at"> & { readonly account_id: Ids.AccountId }
    >`
      SELECT api_keys.id, account_id, organization_id, mode, expires_at
      FROM api_keys JOIN organizations ON organizations.id = organization_id
      WHERE hash = ${hash} AND revoked_at IS NULL
    `

    const selectDescription = ({ id, organizationId }: Pick<ApiKeyIdentity, "id" | "organizationId">) => sql<
      Row & { readonly organization_name: string }
    >`
      SELECT api_keys.id, organization_id, mode, api_keys.name, last4, api_keys.created_at, expires_at,
             organizations.name AS organization_name
      FROM api_keys JOIN organizations ON organizations.id = organization_id
      WHERE organization_id = ${organizationId} AND api_keys.id = ${id}
    `

    const hotStatements = yield* HotStatements
    hotStatements.add("API key", selectIdentity(Buffer.alloc(32)))

    return {
      create: Effect.fn("ApiKeys.create")(
        function* (accountId, organizationId, { expiresAt, mode, name }) {
          const now = yield* Clock.currentTimeMillis
          const lockedId = yield* organizations.lock(accountId, organizationId)
          const [count] = yield* countActive(lockedId, new Date(now))
          if (count!.active >= maxActive) return yield* new TooManyApiKeys()

          const secret = ApiKeySecret.generate(mode, lockedId)
          const row: Row = {
            id: IdGenerator.at("key", now, lockedId),
            organization_id: lockedId,
            mode,
            name,
            last4: secret.slice(-4),
            created_at: new Date(now),
            expires_at: expiresAt
          }
          yield* insert(row, ApiKeySecret.hash(secret))
          return { ...toApi(row), secret }
        },
        (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
      ),

      list: Effect.fn("ApiKeys.list")(function* (organizationId, page) {
        return Page.fromRows(yield* Effect.orDie(selectPage(organizationId, page)), page, toApi)
      }),

      revoke: Effect.fn("ApiKeys.revoke")(function* (accountId, id) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const [row] = Ids.is("key", id) ? yield* Effect.orDie(updateRevoked(accountId, id, now)) : []
        return row === undefined ? yield* new ApiKeyNotFound() : row.hash
      }),

      findIdentity: Effect.fn("ApiKeys.findIdentity")(function* (hash) {
        const [row] = yield* Effect.orDie(selectIdentity(hash))
        return (
          row && {
            id: row.id,
            accountId: row.account_id,
            organizationId: row.organization_id,
            mode: row.mode,
            expiresAt: row.expires_at?.getTime() ?? null
          }
        )
      }),

      describe: Effect.fn("ApiKeys.describe")(function* (key) {
        const [row] = yield* Effect.orDie(selectDescription(key))
        if (row === undefined) return undefined
        const { created_at, id, last4, mode, name, organization_id, organization_name } = row
        return {
          object: "api_key",
          id,
          mode,
          name,
          last4,
          created_at: iso(created_at),
          organization: { id: organization_id, object: "organization", name: organization_name }
        }
      })
    }
  })
)
