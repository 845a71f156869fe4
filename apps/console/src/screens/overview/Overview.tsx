import type { OrganizationOverview as Counts, WebhookDelivery, WebhookEndpoint } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { Link, useSearch } from "wouter"
import { deliveriesQuery, endpointsQuery, keysQuery, overviewQuery } from "../../api/queries.ts"
import { LiveButton } from "../../ui/LiveButton.tsx"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { en } from "../../text/en.ts"
import { EventType } from "../../ui/EventType.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { StatusBadge } from "../../ui/StatusBadge.tsx"
import { Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { deliverySearch, healthSearch, invoiceSearch, noDeliveryFilter } from "../../url/searches.ts"
import { EndpointOf } from "../../ui/EndpointName.tsx"
import { WindowLinks } from "../endpoints/WindowLinks.tsx"
import { Dropped } from "../lists/Dropped.tsx"
import { Checklist } from "./Checklist.tsx"
import { count } from "../../ui/count.ts"
import { BucketTable, EndpointTable } from "./EndpointCounts.tsx"
import { Sum } from "./Sum.tsx"

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
          asOf={isLoaded ? Math.min(failed.dataUpdatedAt, retrying.dataUpdatedAt) : undefined}
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
          timeOf={({ createdAt }) => createdAt}
          addressOf={({ endpointId, id }) => paths.delivery(org, endpointId, id)}
          empty={en.overview.noTroubles}
          columns={[
            { head: en.list.status, cell: ({ status }) => <StatusBadge of="delivery" status={status} /> },
            { head: en.delivery.event, cell: ({ eventType }) => <EventType type={eventType} /> },
            {
              head: en.endpoints.endpoint,
              cell: ({ endpointId }) => <EndpointOf id={endpointId} endpoints={endpoints} />
            },
            { head: en.delivery.answer, cell: ({ lastErrorSummary }) => lastErrorSummary },
            { head: en.created, cell: ({ createdAt }) => <Instant at={createdAt} /> }
          ]}
        />
      )}
    </Panel>
  )
}

/** Counts invoices by trouble. The labels come before the counts, so that nothing below moves when these come. */
const Invoices = ({ counts, org }: { readonly org: string; readonly counts: Counts | undefined }) => {
  const to = (status: "failed" | "rejected" | "retrying") =>
    `${paths.invoices(org)}${invoiceSearch.write({ ...invoiceSearch.read("").value, status })}`
  const entry = (label: string, number: number | undefined, path: string, tone: "warn" | "bad") =>
    [label, number === undefined ? "" : count(number), path, number ? tone : undefined] as const
  const { failed24h, rejected24h, retrying } = counts?.invoices ?? {}
  return (
    <Sum
      entries={[
        entry(en.overview.invoicesRetrying, retrying, to("retrying"), "warn"),
        entry(en.overview.invoicesRejected, rejected24h, to("rejected"), "bad"),
        entry(en.overview.invoicesFailed, failed24h, to("failed"), "bad")
      ]}
    />
  )
}

const Keys = ({ org }: { readonly org: string }) => {
  const keys = useQuery(keysQuery(org))
  return (
    <Loaded query={keys} skeleton={<Skeleton lines={1} />}>
      {(all) =>
        all[0] !== undefined && (
          <p className="small muted">
            {en.overview.keys(
              all.filter(({ mode }) => mode === "test").length,
              all.filter(({ mode }) => mode === "live").length
            )}{" "}
            <Instant at={all[0].createdAt} />. <Link to={paths.keys(org)}>{en.overview.openKeys}</Link>
          </p>
        )
      }
    </Loaded>
  )
}

/** One look at the organization: how far it is, its endpoints, its troubles. */
export const Overview = () => {
  const { id: org } = useCurrentOrganization()
  const { dropped, value: search } = healthSearch.read(useSearch())
  const endpoints = useQuery(endpointsQuery(org))
  const day = useQuery(overviewQuery(org))
  const overview = useQuery(overviewQuery(org, search.window))
  return (
    <Screen title={en.nav.overview} actions={<LiveButton updatedAt={overview.dataUpdatedAt} />}>
      <div className="stack">
        <Dropped names={dropped} />
        <Checklist org={org} />
        {/* The panel below shows the error of the counts of 24 h, unless it shows another window. */}
        {search.window !== "24h" && day.error !== null && (
          <ProblemNotice error={day.error} asOf={day.dataUpdatedAt} onRetry={() => void day.refetch()} />
        )}
        {(day.data !== undefined || day.error === null) && <Invoices org={org} counts={day.data} />}
        <Panel title={en.overview.endpoints} flush aside={<WindowLinks path={paths.overview(org)} search={search} />}>
          {overview.error !== null && (
            <ProblemNotice
              error={overview.error}
              asOf={overview.dataUpdatedAt}
              onRetry={() => void overview.refetch()}
            />
          )}
          <Loaded query={endpoints} skeleton={<Skeleton rows lines={2} />}>
            {(rows) => <EndpointTable org={org} endpoints={rows} counts={overview.data} search={search} />}
          </Loaded>
        </Panel>
        {search.as === "table" && overview.data !== undefined && (
          <Panel title={en.health.caption(search.window)} flush>
            <BucketTable org={org} endpoints={endpoints.data ?? []} counts={overview.data} />
          </Panel>
        )}
        <Troubles org={org} endpoints={endpoints.data ?? []} />
        <Keys org={org} />
      </div>
    </Screen>
  )
}
