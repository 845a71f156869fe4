import type { WebhookEndpoint } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { endpointsQuery, overviewQuery } from "../../api/queries.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { receivers } from "../../snippets/receiver.ts"
import { en } from "../../text/en.ts"
import { Bars } from "../../ui/Bars.tsx"
import { ButtonLink } from "../../ui/Button.tsx"
import { EmptyState } from "../../ui/EmptyState.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { Snippet } from "../../ui/Snippet.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { Badge } from "../../ui/StatusBadge.tsx"
import { type Column, Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { barsOf } from "./bars.ts"
import { EndpointName } from "../../ui/EndpointName.tsx"

/** The URL that the snippet of a receiver is for while there is no endpoint. */
const exampleUrl = "https://shop.example.com/hooks/govoice"

export const EnabledBadge = ({ enabled }: { readonly enabled: boolean }) =>
  enabled ? <span className="muted">{en.endpoints.on}</span> : <Badge icon="off" tone="muted" text={en.endpoints.off} />

const Endpoints = () => {
  const { id: org } = useCurrentOrganization()
  const endpoints = useQuery(endpointsQuery(org))
  const overview = useQuery(overviewQuery(org))
  const picture = (id: string) => overview.data?.endpoints.find(({ endpointId }) => endpointId === id)
  const columns: ReadonlyArray<Column<WebhookEndpoint>> = [
    { head: en.endpoints.endpoint, cell: ({ url }) => <EndpointName url={url} /> },
    {
      head: en.endpoints.types,
      cell: ({ eventTypes }) =>
        eventTypes.includes("*") ? en.endpoints.allShort : en.endpoints.typeCount(eventTypes.length)
    },
    { head: en.endpoints.state, cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
    {
      head: en.endpoints.window("24h"),
      cell: ({ id, url }) => {
        const found = picture(id)
        return found === undefined ? null : (
          <Bars size="small" label={en.endpoints.barsOf(url, "24h")} bars={barsOf(found.buckets)} />
        )
      }
    },
    {
      head: en.endpoints.note,
      cell: ({ description }) =>
        description && (
          <span className="foreign muted" title={description}>
            {description}
          </span>
        )
    }
  ]
  const create = (
    <ButtonLink to={paths.newEndpoint(org)} kind="primary" icon="plus">
      {en.endpoints.create}
    </ButtonLink>
  )
  return (
    <Screen title={en.nav.endpoints} actions={create}>
      <Panel title={en.endpoints.list} flush>
        {overview.error !== null && (
          <ProblemNotice error={overview.error} asOf={overview.dataUpdatedAt} onRetry={() => void overview.refetch()} />
        )}
        <Loaded query={endpoints} skeleton={<Skeleton rows lines={4} />}>
          {(rows) => (
            <Table
              caption={en.endpoints.list}
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              addressOf={({ id }) => paths.endpoint(org, id)}
              empty={
                <EmptyState
                  sentence={en.endpoints.empty}
                  snippet={<Snippet label={en.endpoints.receiver} forms={receivers(exampleUrl)} />}
                >
                  {create}
                </EmptyState>
              }
            />
          )}
        </Loaded>
      </Panel>
    </Screen>
  )
}

export default Endpoints
