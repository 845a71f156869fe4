/** The notices about endpoints, and the statement that switches off those that only fail. */
import type { Ids } from "@govoice/core"
import type { Statement } from "effect/sql"

/** How long an endpoint fails before its owner is told. */
export const toldAfter = "6 hours"

/**
 * Selects the notices about endpoints. `told` of a row has those that its owner was sent. An endpoint has recovered if its owner
 * was told that it fails, and it does not any more.
 */
export const selectEndpointNotices = (sql: Statement.Constructor, now: Statement.Fragment): Statement.Fragment => sql`
  SELECT kind, organization_id, id AS endpoint_id, url, failing_since AS at, kind AS key,
         kind <> 'endpoint_recovered' AND kind = ANY (told) AS is_told, updated_at AS version
  FROM webhook_endpoints
  CROSS JOIN LATERAL (
    SELECT CASE
      WHEN disabled_reason IS NOT NULL                                          THEN 'endpoint_disabled'
      WHEN NOT enabled                                                          THEN NULL
      WHEN failing_since <= ${now} - ${toldAfter}::interval                     THEN 'endpoint_failing'
      WHEN failing_since IS NULL AND 'endpoint_failing' = ANY (told)            THEN 'endpoint_recovered'
    END AS kind
  ) AS found
  WHERE (failing_since IS NOT NULL OR disabled_reason IS NOT NULL OR told <> '{}')
    AND deleted_at IS NULL AND kind IS NOT NULL
`

/** Notes that the owner was told. What was switched meanwhile begins anew, and is told anew. */
export const tellEndpoint = (
  sql: Statement.Constructor,
  kind: "endpoint_disabled" | "endpoint_failing" | "endpoint_recovered",
  id: string
): Statement.Statement<object> =>
  kind === "endpoint_recovered"
    ? sql`UPDATE webhook_endpoints SET told = array_remove(told, 'endpoint_failing') WHERE id = ${id}`
    : sql`
        UPDATE webhook_endpoints SET told = array_append(told, ${kind}::text)
        WHERE id = ${id} AND CASE ${kind} WHEN 'endpoint_failing' THEN enabled ELSE disabled_reason IS NOT NULL END
      `

/**
 * Switches off one endpoint that has failed for so many days. Its last failure has to be after them: an endpoint that nothing was
 * sent to meanwhile stays on. It takes one at a time, so that it cannot block completions, which lock several.
 */
export const disableFailing = (
  sql: Statement.Constructor,
  now: Statement.Fragment,
  days: number
): Statement.Statement<{ readonly id: Ids.EndpointId; readonly organization_id: Ids.OrganizationId }> => sql`
  UPDATE webhook_endpoints
  SET enabled = false, disabled_reason = 'failing', updated_at = greatest(updated_at, ${now})
  WHERE id = (
    SELECT id FROM webhook_endpoints
    WHERE failing_since <= ${now} - make_interval(days => ${days}::int)
      AND failed_at >= failing_since + make_interval(days => ${days}::int) AND enabled AND deleted_at IS NULL
    LIMIT 1 FOR UPDATE SKIP LOCKED
  )
  RETURNING id, organization_id
`
