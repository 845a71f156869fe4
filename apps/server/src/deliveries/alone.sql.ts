/** The statement that claims one delivery that is attempted alone, because it was interrupted at least twice. */
import type { SqlClient, Statement } from "effect/sql"
import * as Interruptions from "./Interruptions.ts"
import { type ClaimParameters, makeLease } from "./claim.sql.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"

/** The parameters of the claim: it begins after an organization, so that organizations take turns. */
export interface AloneParameters extends Pick<ClaimParameters, "leaseMs" | "now" | "perOrganization"> {
  readonly after: string
}

/** Claims one delivery of the next organization that may have one more in flight. Promotion leaves these deliveries out. */
export const claimAlone = (
  sql: SqlClient.SqlClient,
  parameters: AloneParameters
): Statement.Statement<ClaimedDelivery> => {
  const { after, now, perOrganization } = parameters
  const waits = sql`due_at <= ${now} AND NOT is_due AND interruption_count >= ${sql.literal(String(Interruptions.aloneAfter))}`
  const { rows, steps } = makeLease(sql, parameters, sql`deliveries.is_due IS NOT TRUE AND deliveries.due_at <= ${now}`)
  return sql<ClaimedDelivery>`
    WITH RECURSIVE waiting (organization_id) AS (
      (SELECT organization_id FROM deliveries WHERE ${waits} AND organization_id > ${after} ORDER BY organization_id, due_at LIMIT 1)
      UNION ALL
      SELECT next.organization_id FROM waiting CROSS JOIN LATERAL (
        SELECT organization_id FROM deliveries WHERE ${waits} AND organization_id > waiting.organization_id
        ORDER BY organization_id, due_at LIMIT 1
      ) AS next
    ), organization AS MATERIALIZED (
      SELECT organization_id FROM waiting JOIN organization_concurrency USING (organization_id)
      WHERE coalesce(max_in_flight, ${perOrganization}::int) > (
        SELECT coalesce(sum(n::int), 0) FROM jsonb_each_text(in_flight) AS counted (endpoint_id, n)
      )
      ORDER BY organization_id LIMIT 1 FOR UPDATE OF organization_concurrency SKIP LOCKED
    ), picked AS MATERIALIZED (
      SELECT oldest.* FROM organization CROSS JOIN LATERAL (
        SELECT endpoint_id, id AS delivery_id, due_at FROM deliveries
        WHERE ${waits} AND organization_id = organization.organization_id
        ORDER BY organization_id, due_at LIMIT 1
      ) AS oldest
    ), ${steps}
    ${rows}
  `
}
