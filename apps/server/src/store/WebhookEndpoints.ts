/**
 * Keeps webhook endpoints and their signing secrets.
 *
 * A deleted endpoint stays as a row, because delivery records point to it, and exists for nobody.
 *
 * @since 0.1.0
 */
import type { WebhookEndpoint } from "@govoice/api"
import { Ids } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { KeyRing } from "../security/KeyRing.ts"
import * as NewId from "../security/NewId.ts"
import * as OpaqueToken from "../security/OpaqueToken.ts"
import { iso } from "./Instant.ts"
import { OrganizationNotFound } from "./Organizations.ts"
import * as Page from "./Page.ts"
import { textArray } from "./TextArray.ts"

/**
 * How many endpoints an organization may have.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxEndpoints = 20

/**
 * The account has no such endpoint.
 *
 * @category errors
 * @since 0.1.0
 */
export class WebhookEndpointNotFound extends Data.TaggedError("WebhookEndpointNotFound") {}

/**
 * The organization has as many endpoints as it may have.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyWebhookEndpoints extends Data.TaggedError("TooManyWebhookEndpoints") {}

/**
 * What the owner decides of an endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export interface Choices {
  readonly url: string
  readonly description: string | null
  readonly eventTypes: ReadonlyArray<string>
  readonly enabled: boolean
}

/**
 * Service that makes, finds, changes and deletes webhook endpoints.
 *
 * @category services
 * @since 0.1.0
 */
export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    readonly create: (
      accountId: Ids.AccountId,
      organizationId: string,
      choices: Choices
    ) => Effect.Effect<WebhookEndpoint.NewWebhookEndpoint, OrganizationNotFound | TooManyWebhookEndpoints>
    readonly list: (
      organizationId: Ids.OrganizationId,
      page: Page.PageRequest
    ) => Effect.Effect<Page.Page<WebhookEndpoint.WebhookEndpoint>>
    readonly find: (
      accountId: Ids.AccountId,
      id: string
    ) => Effect.Effect<WebhookEndpoint.WebhookEndpoint, WebhookEndpointNotFound>
    /** Changes what is given and leaves the rest. */
    readonly update: (
      accountId: Ids.AccountId,
      id: string,
      changes: Partial<Choices>
    ) => Effect.Effect<WebhookEndpoint.WebhookEndpoint, WebhookEndpointNotFound>
    readonly rotateSecret: (
      accountId: Ids.AccountId,
      id: string,
      activatesInSeconds: number
    ) => Effect.Effect<WebhookEndpoint.RotatedWebhookEndpoint, WebhookEndpointNotFound>
    readonly remove: (accountId: Ids.AccountId, id: string) => Effect.Effect<void, WebhookEndpointNotFound>
  }
>()("@govoice/server/store/WebhookEndpoints") {}

interface Row {
  readonly id: Ids.EndpointId
  readonly organization_id: Ids.OrganizationId
  readonly url: string
  readonly description: string | null
  readonly event_types: WebhookEndpoint.WebhookEndpoint["event_types"]
  readonly enabled: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

const toRecord = (row: Row): WebhookEndpoint.WebhookEndpoint => ({
  id: row.id,
  object: "webhook_endpoint",
  organization_id: row.organization_id,
  url: row.url,
  description: row.description,
  event_types: row.event_types,
  enabled: row.enabled,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at)
})

/**
 * Layer that provides `WebhookEndpoints` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<WebhookEndpoints, never, SqlClient.SqlClient | KeyRing> = Layer.effect(
  WebhookEndpoints,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tail = yield* Page.makeTail
    const keyRing = yield* KeyRing
    const columns = sql`
      webhook_endpoints.id, organization_id, url, description, event_types, enabled,
      webhook_endpoints.created_at, updated_at
    `
    const ofAccount = (accountId: Ids.AccountId, id: Ids.EndpointId) => sql`
      webhook_endpoints.id = ${id} AND deleted_at IS NULL
        AND organization_id IN (SELECT id FROM organizations WHERE account_id = ${accountId})
    `

    // Locks the organization, so that endpoints made at once count each other: the next statement sees what the one before
    // the lock has committed.
    const lockOrganization = (accountId: Ids.AccountId, id: Ids.OrganizationId) => sql`
      SELECT 1 FROM organizations WHERE account_id = ${accountId} AND id = ${id} FOR NO KEY UPDATE
    `

    const countEndpoints = (organizationId: Ids.OrganizationId) => sql<{ readonly endpoints: number }>`
      SELECT count(*)::int AS endpoints FROM webhook_endpoints
      WHERE organization_id = ${organizationId} AND deleted_at IS NULL
    `

    const insert = (
      id: Ids.EndpointId,
      organizationId: Ids.OrganizationId,
      choices: Choices,
      secret: Uint8Array,
      now: Date
    ) => sql<Row>`
      INSERT INTO webhook_endpoints
        (id, organization_id, url, description, event_types, enabled, secret, created_at, updated_at)
      VALUES (
        ${id}, ${organizationId}, ${choices.url}, ${choices.description}, ${textArray(choices.eventTypes)},
        ${choices.enabled}, ${secret}, ${now}, ${now}
      )
      RETURNING ${columns}
    `

    const selectPage = (organizationId: Ids.OrganizationId, page: Page.PageRequest) => sql<Row>`
      SELECT ${columns} FROM webhook_endpoints
      WHERE organization_id = ${organizationId} AND deleted_at IS NULL ${tail(page)}
    `

    const selectOne = (accountId: Ids.AccountId, id: Ids.EndpointId) => sql<Row>`
      SELECT ${columns} FROM webhook_endpoints WHERE ${ofAccount(accountId, id)}
    `

    const updateOne = (accountId: Ids.AccountId, id: Ids.EndpointId, changes: Partial<Choices>, now: Date) => sql<Row>`
      UPDATE webhook_endpoints SET
        url         = coalesce(${changes.url ?? null}, url),
        description = CASE WHEN ${changes.description !== undefined} THEN ${changes.description ?? null} ELSE description END,
        event_types = coalesce(${changes.eventTypes === undefined ? null : textArray(changes.eventTypes)}::text[], event_types),
        enabled     = coalesce(${changes.enabled ?? null}::boolean, enabled),
        updated_at  = ${now}
      WHERE ${ofAccount(accountId, id)}
      RETURNING ${columns}
    `

    // The secret that signs now becomes the old one; a rotation that was still pending is replaced.
    const updateSecret = (
      accountId: Ids.AccountId,
      id: Ids.EndpointId,
      secret: Uint8Array,
      activatesAt: Date,
      now: Date
    ) => sql<Row>`
      UPDATE webhook_endpoints SET
        secret         = CASE WHEN next_secret_at <= ${now} THEN next_secret ELSE secret END,
        next_secret    = ${secret},
        next_secret_at = ${activatesAt},
        updated_at     = ${now}
      WHERE ${ofAccount(accountId, id)}
      RETURNING ${columns}
    `

    const updateDeleted = (accountId: Ids.AccountId, id: Ids.EndpointId, now: Date) => sql<Row>`
      UPDATE webhook_endpoints SET deleted_at = ${now}, updated_at = ${now}
      WHERE ${ofAccount(accountId, id)}
      RETURNING ${columns}
    `

    const orNotFound = Effect.fnUntraced(function* (
      id: string,
      query: (id: Ids.EndpointId) => Effect.Effect<ReadonlyArray<Row>, unknown>
    ) {
      const [row] = Ids.is("we", id) ? yield* Effect.orDie(query(id)) : []
      return row === undefined ? yield* new WebhookEndpointNotFound() : toRecord(row)
    })

    const newSecret = (id: string) => {
      const secret = OpaqueToken.signingSecret()
      return { secret, sealed: keyRing.seal(secret, { column: "webhook_endpoints.secret", row: id }) }
    }

    return {
      create: Effect.fn("WebhookEndpoints.create")(
        function* (accountId, organizationId, choices) {
          const now = yield* Clock.currentTimeMillis
          if (!Ids.is("org", organizationId)) return yield* new OrganizationNotFound()
          const [organization] = yield* lockOrganization(accountId, organizationId)
          if (organization === undefined) return yield* new OrganizationNotFound()
          const [count] = yield* countEndpoints(organizationId)
          if (count!.endpoints >= maxEndpoints) return yield* new TooManyWebhookEndpoints()

          const id = NewId.at("we", now)
          const { sealed, secret } = newSecret(id)
          const [row] = yield* insert(id, organizationId, choices, sealed, new Date(now))
          return { ...toRecord(row!), secret }
        },
        (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
      ),

      list: Effect.fn("WebhookEndpoints.list")(function* (organizationId, page) {
        return Page.fromRows(yield* Effect.orDie(selectPage(organizationId, page)), page, toRecord)
      }),

      find: Effect.fn("WebhookEndpoints.find")((accountId, id) =>
        orNotFound(id, (valid) => selectOne(accountId, valid))
      ),

      update: Effect.fn("WebhookEndpoints.update")(function* (accountId, id, changes) {
        const now = new Date(yield* Clock.currentTimeMillis)
        return yield* orNotFound(id, (valid) => updateOne(accountId, valid, changes, now))
      }),

      rotateSecret: Effect.fn("WebhookEndpoints.rotateSecret")(function* (accountId, id, activatesInSeconds) {
        const now = yield* Clock.currentTimeMillis
        const activatesAt = new Date(now + activatesInSeconds * 1000)
        const { sealed, secret } = newSecret(id)
        const record = yield* orNotFound(id, (valid) =>
          updateSecret(accountId, valid, sealed, activatesAt, new Date(now))
        )
        return { ...record, secret, secret_activates_at: iso(activatesAt) }
      }),

      remove: Effect.fn("WebhookEndpoints.remove")(function* (accountId, id) {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* orNotFound(id, (valid) => updateDeleted(accountId, valid, now))
      })
    }
  })
)
