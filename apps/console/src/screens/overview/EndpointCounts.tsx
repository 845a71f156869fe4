import type { OrganizationOverview as Counts, WebhookEndpoint } from "@govoice/client"
import { Link } from "wouter"
import { texts } from "../../text/texts.ts"
import { SmallBars } from "../../ui/Bars.tsx"
import { EmptyState } from "../../ui/EmptyState.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { type Column, Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import type { HealthSearch } from "../../url/searches.ts"
import { barsOf } from "../endpoints/bars.ts"
import { EndpointName } from "../../ui/EndpointName.tsx"
import { count } from "../../ui/numbers.ts"

/** The endpoints with what is unfinished and what failed, and bars unless their table is shown. */
export const EndpointTable = ({
  counts,
  endpoints,
  org,
  search
}: {
  readonly org: string
  readonly endpoints: ReadonlyArray<WebhookEndpoint>
  readonly counts: Counts | undefined
  readonly search: HealthSearch
}) => {
  const of = (id: string) => counts?.endpoints.find(({ endpointId }) => endpointId === id)
  const number = (head: string, of_: (found: Counts["endpoints"][number]) => number): Column<WebhookEndpoint> => ({
    head,
    isNumber: true,
    cell: ({ id }) => {
      const found = of(id)
      return found === undefined ? "" : count(of_(found))
    }
  })
  const bars: Column<WebhookEndpoint> = {
    head: texts.endpoints.window(search.window),
    cell: ({ id, url }) => {
      const found = of(id)
      return found === undefined ? null : (
        <SmallBars label={texts.endpoints.barsOf(url, search.window)} bars={barsOf(found.buckets)} />
      )
    }
  }
  return (
    <Table
      caption={texts.overview.endpoints}
      rows={endpoints}
      idOf={({ id }) => id}
      addressOf={({ id }) => paths.endpoint(org, id)}
      empty={
        <EmptyState sentence={texts.endpoints.empty}>
          <Link to={paths.newEndpoint(org)}>{texts.endpoints.create}</Link>
        </EmptyState>
      }
      columns={[
        { head: texts.endpoints.endpoint, cell: ({ url }) => <EndpointName url={url} /> },
        ...(search.as === "bars" ? [bars] : []),
        number(texts.health.waiting, ({ waiting }) => waiting),
        number(texts.health.retrying, ({ retrying }) => retrying),
        number(texts.overview.failed, ({ failed24h }) => failed24h),
        {
          head: texts.overview.changed,
          leftOut: "narrow",
          cell: ({ nextSecretAt, updatedAt }) => (
            <span className="small muted">
              <Instant at={updatedAt} />
              {nextSecretAt !== null && (
                <>
                  , {texts.overview.rotates} <Instant at={nextSecretAt} isAwaited />
                </>
              )}
            </span>
          )
        }
      ]}
    />
  )
}
