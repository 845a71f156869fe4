/**
 * The `webhook_endpoints` table, with the signing secrets.
 *
 * A deleted endpoint stays as a row until its deliveries are gone; no statement of this file returns it.
 */
import type { WebhookEndpoint } from "@govoice/api"
import type { Ids, Mode } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type OrganizationNotFound, Organizations } from "../accounts/Organizations.ts"
import * as IdGenerator from "../crypto/IdGenerator.ts"
import { KeyRing } from "../crypto/KeyRing.ts"
import * as OpaqueToken from "../crypto/OpaqueToken.ts"
import { makeOrNotFound } from "../database/orNotFound.ts"
import * as Page from "../database/Page.ts"
import { textArray } from "../database/Arrays.ts"
import { iso, isoOrNull } from "../database/timestamps.ts"
import { Settings } from "../settings/Settings.ts"
import * as ConcurrencyLimits from "./ConcurrencyLimits.ts"
import * as EndpointHeaders from "./EndpointHeaders.ts"
import * as StandardWebhooks from "./StandardWebhooks.ts"

/** How many endpoints an organization may have. */
export const maxEndpoints = 20

/** The account has no such endpoint. */
export class WebhookEndpointNotFound extends Data.TaggedError("WebhookEndpointNotFound") {}

/** The organization has as many endpoints as it may have. */
export class TooManyWebhookEndpoints extends Data.TaggedError("TooManyWebhookEndpoints") {}

/** The secret that signs now cannot sign Standard Webhooks. A rotation replaces it. */
export class SecretNotStandard extends Data.TaggedError("SecretNotStandard") {}

/** The endpoint would have more in flight than its organization may have: `limit`. */
export class MaxInFlightTooHigh extends Data.TaggedError("MaxInFlightTooHigh")<{ readonly limit: number }> {}

/** The members of an endpoint that its owner sets. */
export interface EndpointInput {
  readonly url: string
  readonly description: string | null
  readonly eventTypes: ReadonlyArray<string>
  readonly enabled: boolean
  readonly standardWebhooks: boolean
  readonly modes: ReadonlyArray<Mode.Mode>
  readonly headers: EndpointHeaders.EndpointHeaders
  /** `null` for the limit of the organization alone. */
  readonly maxInFlight: number | null
}

/** Creates, finds, changes and deletes webhook endpoints. */
export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    readonly create: (
      accountId: Ids.AccountId,
      organizationId: string,
      input: EndpointInput
    ) => Effect.Effect<
      WebhookEndpoint.NewWebhookEndpoint,
      MaxInFlightTooHigh | OrganizationNotFound | TooManyWebhookEndpoints
    >
    readonly list: (
      organizationId: Ids.OrganizationId,
      page: Page.PageRequest
    ) => Effect.Effect<Page.Page<WebhookEndpoint.WebhookEndpoint>>
    readonly find: (
      accountId: Ids.AccountId,
      id: string
    ) => Effect.Effect<WebhookEndpoint.WebhookEndpoint, WebhookEndpointNotFound>
    /** Changes the members that are given. */
    readonly update: (
      accountId: Ids.AccountId,
      id: string,
      changes: Partial<EndpointInput>
    ) => Effect.Effect<
      WebhookEndpoint.WebhookEndpoint,
      MaxInFlightTooHigh | SecretNotStandard | WebhookEndpointNotFound
    >
    readonly rotateSecret: (
      accountId: Ids.AccountId,
      id: string,
      activatesInSeconds: number
    ) => Effect.Effect<WebhookEndpoint.RotatedWebhookEndpoint, WebhookEndpointNotFound>
    readonly remove: (accountId: Ids.AccountId, id: string) => Effect.Effect<void, WebhookEndpointNotFound>
  }
>()("@govoice/server/deliveries/WebhookEndpoints") {}

interface Row {
  readonly id: Ids.EndpointId
  readonly organization_id: Ids.OrganizationId
  readonly url: string
  readonly description: string | null
  readonly event_types: WebhookEndpoint.WebhookEndpoint["event_types"]
  readonly enabled: boolean
  readonly standard_webhooks: boolean
  readonly modes: ReadonlyArray<Mode.Mode>
  readonly header_names: ReadonlyArray<string>
  readonly max_in_flight: number | null
  readonly next_secret_at: Date | null
  readonly failing_since: Date | null
  readonly disabled_reason: WebhookEndpoint.WebhookEndpoint["disabled_reason"]
  readonly created_at: Date
  readonly updated_at: Date
}

const orNotFound = makeOrNotFound("we", () => new WebhookEndpointNotFound())

const toApi = (row: Row): WebhookEndpoint.WebhookEndpoint => ({
  id: row.id,
  object: "webhook_endpoint",
  organization_id: row.organization_id,
  url: row.url,
  description: row.description,
  event_types: row.event_types,
  enabled: row.enabled,
  disabled_reason: row.disabled_reason,
  failing_since: isoOrNull(row.failing_since),
  standard_webhooks: row.standard_webhooks,
  modes: row.modes,
  headers: row.header_names,
  max_in_flight: row.max_in_flight,
  next_secret_at: isoOrNull(row.next_secret_at),
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at)
})

/** Provides `WebhookEndpoints` from a migrated database. */
export const layer: Layer.Layer<WebhookEndpoints, never, KeyRing | Organizations | Settings | SqlClient.SqlClient> =
  Layer.effect(
    WebhookEndpoints,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { organizationConcurrency } = yield* Settings
      const tail = yield* Page.makeTail
      const keyRing = yield* KeyRing
      const organizations = yield* Organizations
      const columns = sql`
      id, organization_id, url, description, event_types, enabled, standard_webhooks, modes, header_names, max_in_flight,
      disabled_reason, failing_since, created_at, updated_at, CASE WHEN next_secret_at > clock_timestamp() THEN next_secret_at END AS next_secret_at
    `
      const ownedBy = (accountId: Ids.AccountId, id: Ids.EndpointId) => sql`
      id = ${id} AND deleted_at IS NULL AND ${organizations.ownedBy(accountId)}
    `

      const countEndpoints = (organizationId: Ids.OrganizationId) => sql<{ readonly endpoints: number }>`
      SELECT count(*)::int AS endpoints FROM webhook_endpoints
      WHERE organization_id = ${organizationId} AND deleted_at IS NULL
    `

      // Deliveries need an endpoint first, so the row that limits their concurrency is inserted here.
      const insert = (
        id: Ids.EndpointId,
        organizationId: Ids.OrganizationId,
        input: EndpointInput,
        secret: Uint8Array,
        now: Date
      ) => sql<Row>`
      WITH concurrency AS (INSERT INTO organization_concurrency (organization_id) VALUES (${organizationId}) ON CONFLICT DO NOTHING)
      INSERT INTO webhook_endpoints
        (id, organization_id, url, description, event_types, enabled, standard_webhooks, modes, header_names, headers,
         pace, max_in_flight, secret, created_at, updated_at)
      VALUES (
        ${id}, ${organizationId}, ${input.url}, ${input.description}, ${textArray(input.eventTypes)},
        ${input.enabled}, ${input.standardWebhooks}, ${textArray(input.modes)},
        ${textArray(Object.keys(input.headers))}, ${EndpointHeaders.seal(keyRing, id, input.headers)},
        'new', ${input.maxInFlight}, ${secret}, ${now}, ${now}
      )
      RETURNING ${columns}
    `

      const selectPage = (organizationId: Ids.OrganizationId, page: Page.PageRequest) => sql<Row>`
      SELECT ${columns} FROM webhook_endpoints
      WHERE organization_id = ${organizationId} AND deleted_at IS NULL ${tail(page)}
    `

      const selectOne = (accountId: Ids.AccountId, id: Ids.EndpointId) => sql<Row>`
      SELECT ${columns} FROM webhook_endpoints WHERE ${ownedBy(accountId, id)}
    `

      const selectActiveSecret = (accountId: Ids.AccountId, id: Ids.EndpointId) => sql<{ readonly secret: Uint8Array }>`
      SELECT CASE WHEN next_secret_at <= clock_timestamp() THEN next_secret ELSE secret END AS secret
      FROM webhook_endpoints WHERE ${ownedBy(accountId, id)}
    `

      const updateOne = (accountId: Ids.AccountId, id: Ids.EndpointId, changes: Partial<EndpointInput>, now: Date) => {
        // An endpoint that is switched on or off begins anew, as if it had not failed.
        const isSwitched = sql`coalesce(${changes.enabled ?? null}::boolean <> enabled, false)`
        return sql<Row>`
      UPDATE webhook_endpoints SET
        url               = coalesce(${changes.url ?? null}, url),
        description       = CASE WHEN ${changes.description !== undefined} THEN ${changes.description ?? null} ELSE description END,
        event_types       = coalesce(${changes.eventTypes === undefined ? null : textArray(changes.eventTypes)}::text[], event_types),
        enabled           = coalesce(${changes.enabled ?? null}::boolean, enabled),
        disabled_reason   = CASE WHEN NOT ${isSwitched} THEN disabled_reason END,
        failing_since     = CASE WHEN NOT ${isSwitched} THEN failing_since END,
        failed_at         = CASE WHEN NOT ${isSwitched} THEN failed_at END,
        told              = CASE WHEN ${isSwitched} THEN '{}' ELSE told END,
        standard_webhooks = coalesce(${changes.standardWebhooks ?? null}::boolean, standard_webhooks),
        modes             = coalesce(${changes.modes === undefined ? null : textArray(changes.modes)}::text[], modes),
        header_names      = coalesce(${changes.headers === undefined ? null : textArray(Object.keys(changes.headers))}::text[], header_names),
        headers           = CASE WHEN ${changes.headers !== undefined} THEN ${
          changes.headers === undefined ? null : EndpointHeaders.seal(keyRing, id, changes.headers)
        } ELSE headers END,
        max_in_flight     = CASE WHEN ${changes.maxInFlight !== undefined} THEN ${changes.maxInFlight ?? null}::int ELSE max_in_flight END,
        updated_at        = greatest(updated_at, ${now})
      WHERE ${ownedBy(accountId, id)}
      RETURNING ${columns}
    `
      }

      // The secret that signs now becomes the old one; a pending rotation is replaced.
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
        updated_at     = greatest(updated_at, ${now})
      WHERE ${ownedBy(accountId, id)}
      RETURNING ${columns}
    `

      const updateDeleted = (accountId: Ids.AccountId, id: Ids.EndpointId, now: Date) => sql<Row>`
      UPDATE webhook_endpoints SET deleted_at = ${now}, updated_at = greatest(updated_at, ${now})
      WHERE ${ownedBy(accountId, id)}
      RETURNING ${columns}
    `

      // A rotation in between brings a secret that can sign, so the check needs no lock.
      const checkSecret = Effect.fnUntraced(function* (accountId: Ids.AccountId, id: string) {
        const row = yield* orNotFound(id, (valid) => selectActiveSecret(accountId, valid))
        const secret = keyRing.open(row.secret, { column: "webhook_endpoints.secret", row: id })
        if (!StandardWebhooks.canSign(secret)) return yield* new SecretNotStandard()
      })

      const checkMaxInFlight = Effect.fnUntraced(function* (
        organizationId: Ids.OrganizationId,
        given: number | null | undefined
      ) {
        if (typeof given !== "number") return
        const limit = yield* ConcurrencyLimits.read(organizationId, organizationConcurrency).pipe(
          Effect.provideService(SqlClient.SqlClient, sql)
        )
        if (given > limit) return yield* new MaxInFlightTooHigh({ limit })
      })

      const newSecret = (id: string) => {
        const secret = OpaqueToken.signingSecret()
        return { secret, sealed: keyRing.seal(secret, { column: "webhook_endpoints.secret", row: id }) }
      }

      return {
        create: Effect.fn("WebhookEndpoints.create")(
          function* (accountId, organizationId, input) {
            const now = yield* Clock.currentTimeMillis
            const lockedId = yield* organizations.lock(accountId, organizationId)
            const [count] = yield* countEndpoints(lockedId)
            if (count!.endpoints >= maxEndpoints) return yield* new TooManyWebhookEndpoints()
            yield* checkMaxInFlight(lockedId, input.maxInFlight)

            const id = IdGenerator.at("we", now, lockedId)
            const { sealed, secret } = newSecret(id)
            const [row] = yield* insert(id, lockedId, input, sealed, new Date(now))
            return { ...toApi(row!), secret }
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        list: Effect.fn("WebhookEndpoints.list")(function* (organizationId, page) {
          return Page.fromRows(yield* Effect.orDie(selectPage(organizationId, page)), page, toApi)
        }),

        find: Effect.fn("WebhookEndpoints.find")((accountId, id) =>
          Effect.map(
            orNotFound(id, (valid) => selectOne(accountId, valid)),
            toApi
          )
        ),

        update: Effect.fn("WebhookEndpoints.update")(function* (accountId, id, changes) {
          const now = new Date(yield* Clock.currentTimeMillis)
          if (changes.standardWebhooks === true) yield* checkSecret(accountId, id)
          if (typeof changes.maxInFlight === "number") {
            const { organization_id } = yield* orNotFound(id, (valid) => selectOne(accountId, valid))
            yield* Effect.catchTag(checkMaxInFlight(organization_id, changes.maxInFlight), "SqlError", Effect.die)
          }
          return toApi(yield* orNotFound(id, (valid) => updateOne(accountId, valid, changes, now)))
        }),

        rotateSecret: Effect.fn("WebhookEndpoints.rotateSecret")(function* (accountId, id, activatesInSeconds) {
          const now = yield* Clock.currentTimeMillis
          const activatesAt = new Date(now + activatesInSeconds * 1000)
          const { sealed, secret } = newSecret(id)
          const row = yield* orNotFound(id, (valid) =>
            updateSecret(accountId, valid, sealed, activatesAt, new Date(now))
          )
          return { ...toApi(row), secret, secret_activates_at: iso(activatesAt) }
        }),

        remove: Effect.fn("WebhookEndpoints.remove")(function* (accountId, id) {
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* orNotFound(id, (valid) => updateDeleted(accountId, valid, now))
        })
      }
    })
  )
