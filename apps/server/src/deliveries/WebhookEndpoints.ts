/**
 * The `webhook_endpoints` table, with the signing secrets.
 *
 * A deleted endpoint stays as a row until its deliveries are gone; no statement of this file returns it.
 */
import type { WebhookEndpoint } from "@govoice/api"
import type { Ids, Mode } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
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

const columns = `
  id, organization_id, url, description, event_types, enabled, standard_webhooks, modes, header_names, max_in_flight,
  disabled_reason, failing_since, created_at, updated_at, CASE WHEN next_secret_at > clock_timestamp() THEN next_secret_at END AS next_secret_at
`

const countEndpoints = (sql: Statement.Constructor, organizationId: Ids.OrganizationId) => sql<{
  readonly endpoints: number
}>`
  SELECT count(*)::int AS endpoints FROM webhook_endpoints
  WHERE organization_id = ${organizationId} AND deleted_at IS NULL
`

interface NewEndpoint extends EndpointInput {
  readonly id: Ids.EndpointId
  readonly organizationId: Ids.OrganizationId
  readonly sealedHeaders: Uint8Array | null
  readonly sealedSecret: Uint8Array
}

// Deliveries need an endpoint first, so the row that limits their concurrency is inserted here.
const insert = (sql: Statement.Constructor, endpoint: NewEndpoint, now: Date) => sql<Row>`
  WITH concurrency AS (
    INSERT INTO organization_concurrency (organization_id) VALUES (${endpoint.organizationId}) ON CONFLICT DO NOTHING
  )
  INSERT INTO webhook_endpoints
    (id, organization_id, url, description, event_types, enabled, standard_webhooks, modes, header_names, headers,
     pace, max_in_flight, secret, created_at, updated_at)
  VALUES (
    ${endpoint.id}, ${endpoint.organizationId}, ${endpoint.url}, ${endpoint.description}, ${textArray(endpoint.eventTypes)},
    ${endpoint.enabled}, ${endpoint.standardWebhooks}, ${textArray(endpoint.modes)},
    ${textArray(Object.keys(endpoint.headers))}, ${endpoint.sealedHeaders},
    'new', ${endpoint.maxInFlight}, ${endpoint.sealedSecret}, ${now}, ${now}
  )
  RETURNING ${sql.literal(columns)}
`

const selectPage = (
  sql: Statement.Constructor,
  organizationId: Ids.OrganizationId,
  tail: Statement.Fragment
) => sql<Row>`
  SELECT ${sql.literal(columns)} FROM webhook_endpoints
  WHERE organization_id = ${organizationId} AND deleted_at IS NULL ${tail}
`

// The statements below are of one endpoint: `owned` is the condition that names it with its account.

const selectOne = (sql: Statement.Constructor, owned: Statement.Fragment) => sql<Row>`
  SELECT ${sql.literal(columns)} FROM webhook_endpoints WHERE ${owned}
`

const selectActiveSecret = (sql: Statement.Constructor, owned: Statement.Fragment) => sql<{
  readonly secret: Uint8Array
}>`
  SELECT CASE WHEN next_secret_at <= clock_timestamp() THEN next_secret ELSE secret END AS secret
  FROM webhook_endpoints WHERE ${owned}
`

interface Changes extends Partial<EndpointInput> {
  readonly sealedHeaders: Uint8Array | null
}

const updateOne = (sql: Statement.Constructor, owned: Statement.Fragment, changes: Changes, now: Date) => {
  const { description, enabled, eventTypes, headers, maxInFlight, modes, sealedHeaders, standardWebhooks, url } =
    changes
  // An endpoint that is switched on or off begins anew, as if it had not failed.
  const isSwitched = sql`coalesce(${enabled ?? null}::boolean <> enabled, false)`
  return sql<Row>`
    UPDATE webhook_endpoints SET
      url               = coalesce(${url ?? null}, url),
      description       = CASE WHEN ${description !== undefined} THEN ${description ?? null} ELSE description END,
      event_types       = coalesce(${eventTypes === undefined ? null : textArray(eventTypes)}::text[], event_types),
      enabled           = coalesce(${enabled ?? null}::boolean, enabled),
      disabled_reason   = CASE WHEN NOT ${isSwitched} THEN disabled_reason END,
      failing_since     = CASE WHEN NOT ${isSwitched} THEN failing_since END,
      failed_at         = CASE WHEN NOT ${isSwitched} THEN failed_at END,
      told              = CASE WHEN ${isSwitched} THEN '{}' ELSE told END,
      standard_webhooks = coalesce(${standardWebhooks ?? null}::boolean, standard_webhooks),
      modes             = coalesce(${modes === undefined ? null : textArray(modes)}::text[], modes),
      header_names      = coalesce(${headers === undefined ? null : textArray(Object.keys(headers))}::text[], header_names),
      headers           = CASE WHEN ${headers !== undefined} THEN ${sealedHeaders} ELSE headers END,
      max_in_flight     = CASE WHEN ${maxInFlight !== undefined} THEN ${maxInFlight ?? null}::int ELSE max_in_flight END,
      updated_at        = greatest(updated_at, ${now})
    WHERE ${owned}
    RETURNING ${sql.literal(columns)}
  `
}

// A pending rotation is replaced. A secret that signs from now on waits for no clock, since those of workers differ.
const updateSecret = (
  sql: Statement.Constructor,
  owned: Statement.Fragment,
  sealedSecret: Uint8Array,
  activatesAt: Date | null,
  now: Date
) => sql<Row>`
  UPDATE webhook_endpoints SET
    secret         = CASE WHEN ${activatesAt === null} THEN ${sealedSecret}
                          WHEN next_secret_at <= ${now} THEN next_secret ELSE secret END,
    next_secret    = CASE WHEN ${activatesAt !== null} THEN ${sealedSecret} END,
    next_secret_at = ${activatesAt},
    updated_at     = greatest(updated_at, ${now})
  WHERE ${owned}
  RETURNING ${sql.literal(columns)}
`

const updateDeleted = (sql: Statement.Constructor, owned: Statement.Fragment, now: Date) => sql<Row>`
  UPDATE webhook_endpoints SET deleted_at = ${now}, updated_at = greatest(updated_at, ${now})
  WHERE ${owned}
  RETURNING ${sql.literal(columns)}
`

const checkMaxInFlight = Effect.fnUntraced(function* (
  organizationId: Ids.OrganizationId,
  given: number | null | undefined
) {
  if (typeof given !== "number") return
  const { organizationConcurrency } = yield* Settings
  const limit = yield* ConcurrencyLimits.read(organizationId, organizationConcurrency)
  if (given > limit) return yield* new MaxInFlightTooHigh({ limit })
})

/** Provides `WebhookEndpoints` from a migrated database. */
export const layer: Layer.Layer<WebhookEndpoints, never, KeyRing | Organizations | Settings | SqlClient.SqlClient> =
  Layer.effect(
    WebhookEndpoints,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tail = yield* Page.makeTail
      const keyRing = yield* KeyRing
      const organizations = yield* Organizations
      const context = yield* Effect.context<Settings | SqlClient.SqlClient>()

      /** Runs a statement of an endpoint of the account. */
      const ofEndpoint = <A>(
        accountId: Ids.AccountId,
        id: string,
        query: (owned: Statement.Fragment, id: Ids.EndpointId) => Effect.Effect<ReadonlyArray<A>, unknown>
      ) =>
        orNotFound(id, (valid) =>
          query(sql`id = ${valid} AND deleted_at IS NULL AND ${organizations.ownedBy(accountId)}`, valid)
        )

      // A rotation in between brings a secret that can sign, so the check needs no lock.
      const checkSecret = Effect.fnUntraced(function* (accountId: Ids.AccountId, id: string) {
        const row = yield* ofEndpoint(accountId, id, (owned) => selectActiveSecret(sql, owned))
        const secret = keyRing.open(row.secret, { column: "webhook_endpoints.secret", row: id })
        if (!StandardWebhooks.canSign(secret)) return yield* new SecretNotStandard()
      })

      const newSecret = (id: string) => {
        const secret = OpaqueToken.signingSecret()
        return { secret, sealedSecret: keyRing.seal(secret, { column: "webhook_endpoints.secret", row: id }) }
      }

      return {
        create: Effect.fn("WebhookEndpoints.create")(
          function* (accountId, organizationId, input) {
            const now = yield* Clock.currentTimeMillis
            const lockedId = yield* organizations.lock(accountId, organizationId)
            const [count] = yield* countEndpoints(sql, lockedId)
            if (count!.endpoints >= maxEndpoints) return yield* new TooManyWebhookEndpoints()
            yield* Effect.provideContext(checkMaxInFlight(lockedId, input.maxInFlight), context)

            const id = IdGenerator.at("we", now, lockedId)
            const { sealedSecret, secret } = newSecret(id)
            const sealedHeaders = EndpointHeaders.seal(keyRing, id, input.headers)
            const endpoint = { ...input, id, organizationId: lockedId, sealedHeaders, sealedSecret }
            const [row] = yield* insert(sql, endpoint, new Date(now))
            return { ...toApi(row!), secret }
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        list: Effect.fn("WebhookEndpoints.list")(function* (organizationId, page) {
          return Page.fromRows(yield* Effect.orDie(selectPage(sql, organizationId, tail(page))), page, toApi)
        }),

        find: Effect.fn("WebhookEndpoints.find")((accountId, id) =>
          Effect.map(
            ofEndpoint(accountId, id, (owned) => selectOne(sql, owned)),
            toApi
          )
        ),

        update: Effect.fn("WebhookEndpoints.update")(function* (accountId, id, changes) {
          const now = new Date(yield* Clock.currentTimeMillis)
          if (changes.standardWebhooks === true) yield* checkSecret(accountId, id)
          if (typeof changes.maxInFlight === "number") {
            const { organization_id } = yield* ofEndpoint(accountId, id, (owned) => selectOne(sql, owned))
            yield* checkMaxInFlight(organization_id, changes.maxInFlight).pipe(
              Effect.provideContext(context),
              Effect.catchTag("SqlError", Effect.die)
            )
          }
          const row = yield* ofEndpoint(accountId, id, (owned, valid) => {
            const { headers } = changes
            const sealedHeaders = headers === undefined ? null : EndpointHeaders.seal(keyRing, valid, headers)
            return updateOne(sql, owned, { ...changes, sealedHeaders }, now)
          })
          return toApi(row)
        }),

        rotateSecret: Effect.fn("WebhookEndpoints.rotateSecret")(function* (accountId, id, activatesInSeconds) {
          const now = yield* Clock.currentTimeMillis
          const activatesAt = new Date(now + activatesInSeconds * 1000)
          const { sealedSecret, secret } = newSecret(id)
          const row = yield* ofEndpoint(accountId, id, (owned) =>
            updateSecret(sql, owned, sealedSecret, activatesInSeconds === 0 ? null : activatesAt, new Date(now))
          )
          return { ...toApi(row), secret, secret_activates_at: iso(activatesAt) }
        }),

        remove: Effect.fn("WebhookEndpoints.remove")(function* (accountId, id) {
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* ofEndpoint(accountId, id, (owned) => updateDeleted(sql, owned, now))
        })
      }
    })
  )
