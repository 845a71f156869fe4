import type { WebhookEndpoint } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { endpointsQuery, overviewQuery } from "../../api/queries.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { receivers } from "../../snippets/receiver.ts"
import { texts } from "../../text/texts.ts"
import { SmallBars } from "../../ui/Bars.tsx"
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
  enabled ? (
    <span className="muted">{texts.endpoints.on}</span>
  ) : (
    <Badge icon="off" tone="muted" text={texts.endpoints.off} />
  )

const Endpoints = () => {
  const { id: org } = useCurrentOrganization()
  const endpoints = useQuery(endpointsQuery(org))
  const overview = useQuery(overviewQuery(org))
  const picture = (id: string) => overview.data?.endpoints.find(({ endpointId }) => endpointId === id)
  const columns: ReadonlyArray<Column<WebhookEndpoint>> = [
    { head: texts.endpoints.endpoint, cell: ({ url }) => <EndpointName url={url} /> },
    {
      head: texts.endpoints.types,
      cell: ({ eventTypes }) =>
        eventTypes.includes("*") ? texts.endpoints.allShort : texts.endpoints.typeCount(eventTypes.length)
    },
    { head: texts.endpoints.state, cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
    {
      head: texts.endpoints.window("24h"),
      cell: ({ id, url }) => {
        const found = picture(id)
        return found === undefined ? null : (
          <SmallBars label={texts.endpoints.barsOf(url, "24h")} bars={barsOf(found.buckets)} />
        )
      }
    },
    {
      head: texts.endpoints.note,
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
      {texts.endpoints.create}
    </ButtonLink>
  )
  return (
    <Screen title={texts.nav.endpoints} actions={create}>
      <Panel title={texts.endpoints.list} flush>
        {overview.error !== null && (
          <ProblemNotice error={overview.error} asOf={overview.dataUpdatedAt} onRetry={() => void overview.refetch()} />
        )}
        <Loaded query={endpoints} skeleton={<Skeleton rows lines={4} />}>
          {(rows) => (
            <Table
              caption={texts.endpoints.list}
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              addressOf={({ id }) => paths.endpoint(org, id)}
              empty={
                <EmptyState
                  sentence={texts.endpoints.empty}
                  snippet={<Snippet label={texts.endpoints.receiver} forms={receivers(exampleUrl)} />}
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
