import type { OrganizationOverview as Counts, WebhookDelivery, WebhookEndpoint } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { deliveriesQuery, endpointsQuery, keysQuery, overviewQuery } from "../../api/queries.ts"
import { LiveButton } from "../../app/LiveButton.tsx"
import { useCurrentOrganization } from "../../app/organization.ts"
import { Screen } from "../../app/Screen.tsx"
import { en } from "../../text/en.ts"
import { Bars } from "../../ui/Bars.tsx"
import { EmptyState } from "../../ui/EmptyState.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { StatusBadge } from "../../ui/StatusBadge.tsx"
import { type Column, Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { deliverySearch, invoiceSearch, noDeliveryFilter } from "../../url/searches.ts"
import { barsOf } from "../endpoints/bars.ts"
import { EndpointName } from "../endpoints/EndpointName.tsx"
import { Checklist } from "./Checklist.tsx"
import { Sum } from "./Sum.tsx"

const count = (value: number) => (value >= 1000 ? "1000+" : value)

type EndpointCounts = Counts["endpoints"][number]

const EndpointTable = ({
  counts,
  endpoints,
  org
}: {
  readonly org: string
  readonly endpoints: ReadonlyArray<WebhookEndpoint>
  readonly counts: Counts | undefined
}) => {
  const of = (id: string): EndpointCounts | undefined => counts?.endpoints.find(({ endpointId }) => endpointId === id)
  const number = (head: string, of_: (found: EndpointCounts) => number): Column<WebhookEndpoint> => ({
    head,
    isNumber: true,
    cell: ({ id }) => {
      const found = of(id)
      return found === undefined ? "" : count(of_(found))
    }
  })
  return (
    <Table
      caption={en.overview.endpoints}
      rows={endpoints}
      idOf={({ id }) => id}
      addressOf={({ id }) => paths.endpoint(org, id)}
      empty={
        <EmptyState sentence={en.endpoints.empty}>
          <Link to={paths.newEndpoint(org)}>{en.endpoints.create}</Link>
        </EmptyState>
      }
      columns={[
        { head: en.endpoints.endpoint, cell: ({ url }) => <EndpointName url={url} /> },
        {
          head: en.endpoints.day,
          cell: ({ id, url }) => {
            const found = of(id)
            return found === undefined ? null : (
              <Bars size="small" label={en.endpoints.barsOf(url)} bars={barsOf(found.buckets)} />
            )
          }
        },
        number(en.health.waiting, ({ waiting }) => waiting),
        number(en.health.retrying, ({ retrying }) => retrying),
        number(en.overview.failed, ({ failed24h }) => failed24h)
      ]}
    />
  )
}

const troublesOf = (all: ReadonlyArray<WebhookDelivery>) =>
  all.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, 10)

const Troubles = ({ endpoints, org }: { readonly org: string; readonly endpoints: ReadonlyArray<WebhookEndpoint> }) => {
  const failed = useQuery(deliveriesQuery(org, { ...noDeliveryFilter, status: "failed" }))
  const retrying = useQuery(deliveriesQuery(org, { ...noDeliveryFilter, status: "retrying" }))
  const error = failed.error ?? retrying.error
  const isLoaded = failed.data !== undefined && retrying.data !== undefined
  return (
    <Panel
      flush
      title={en.overview.troubles}
      aside={
        <Link
          className="small"
          to={`${paths.deliveries(org)}${deliverySearch.write({ ...noDeliveryFilter, status: "failed" })}`}
        >
          {en.overview.allFailed}
        </Link>
      }
    >
      {error !== null && (
        <ProblemNotice
          error={error}
          onRetry={() => {
            void failed.refetch()
            void retrying.refetch()
          }}
        />
      )}
      {!isLoaded ? (
        error === null && <Skeleton rows lines={3} />
      ) : (
        <Table
          caption={en.overview.troubles}
          rows={troublesOf([...failed.data.data, ...retrying.data.data])}
          idOf={({ id }) => id}
          addressOf={({ endpointId, id }) => paths.delivery(org, endpointId, id)}
          empty={en.overview.noTroubles}
          columns={[
            { head: en.list.status, cell: ({ status }) => <StatusBadge status={status} /> },
            { head: en.delivery.event, cell: ({ eventType }) => <span className="nowrap">{eventType}</span> },
            {
              head: en.endpoints.endpoint,
              cell: ({ endpointId }) => {
                const found = endpoints.find(({ id }) => id === endpointId)
                return found === undefined ? null : <EndpointName url={found.url} hostOnly />
              }
            },
            { head: en.delivery.answer, cell: ({ lastErrorSummary }) => lastErrorSummary },
            { head: en.created, cell: ({ createdAt }) => <Instant at={createdAt} /> }
          ]}
        />
      )}
    </Panel>
  )
}

const Invoices = ({ counts, org }: { readonly org: string; readonly counts: Counts }) => {
  const { failed24h, rejected24h, retrying } = counts.invoices
  const to = (status: "failed" | "rejected" | "retrying") =>
    `${paths.invoices(org)}${invoiceSearch.write({ ...invoiceSearch.read("").value, status })}`
  return (
    <Sum
      entries={[
        [en.overview.invoicesRetrying, count(retrying), to("retrying"), retrying > 0 ? "warn" : undefined],
        [en.overview.invoicesRejected, count(rejected24h), to("rejected"), rejected24h > 0 ? "bad" : undefined],
        [en.overview.invoicesFailed, count(failed24h), to("failed"), failed24h > 0 ? "bad" : undefined]
      ]}
    />
  )
}

const Keys = ({ org }: { readonly org: string }) => {
  const { data } = useQuery(keysQuery(org))
  const newest = data?.[0]
  if (newest === undefined) return null
  return (
    <p className="small muted">
      {en.overview.keys(
        data!.filter(({ mode }) => mode === "test").length,
        data!.filter(({ mode }) => mode === "live").length
      )}{" "}
      <Instant at={newest.createdAt} />. <Link to={paths.keys(org)}>{en.overview.openKeys}</Link>
    </p>
  )
}

/** One look at the organization: how far it is, its endpoints, its troubles. */
export const Overview = () => {
  const { id: org } = useCurrentOrganization()
  const endpoints = useQuery(endpointsQuery(org))
  const overview = useQuery(overviewQuery(org))
  return (
    <Screen title={en.nav.overview} actions={<LiveButton updatedAt={overview.dataUpdatedAt} />}>
      <div className="stack">
        <Checklist org={org} />
        {overview.data !== undefined && <Invoices org={org} counts={overview.data} />}
        <Panel title={en.overview.endpoints} flush>
          {overview.error !== null && (
            <ProblemNotice
              error={overview.error}
              asOf={overview.dataUpdatedAt}
              onRetry={() => void overview.refetch()}
            />
          )}
          <Loaded query={endpoints} skeleton={<Skeleton rows lines={2} />}>
            {(rows) => <EndpointTable org={org} endpoints={rows} counts={overview.data} />}
          </Loaded>
        </Panel>
        <Troubles org={org} endpoints={endpoints.data ?? []} />
        <Keys org={org} />
      </div>
    </Screen>
  )
}
