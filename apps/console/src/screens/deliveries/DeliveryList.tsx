import type { WebhookDelivery, WebhookEndpoint } from "@govoice/client"
import { useQueries, useQuery } from "@tanstack/react-query"
import { useLocation, useSearch } from "wouter"
import { pollMs } from "../../api/polling.ts"
import { type UseRead, useSteadyRows } from "../../api/steadyRows.ts"
import {
  configQuery,
  deliveriesQuery,
  deliveryQuery,
  endpointsQuery,
  everyUnsettled,
  isUnsettled,
  overviewQuery
} from "../../api/queries.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { texts } from "../../text/texts.ts"
import { ButtonLink } from "../../ui/Button.tsx"
import { EventType } from "../../ui/EventType.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Pager } from "../../ui/Pager.tsx"
import { StatusBadge } from "../../ui/StatusBadge.tsx"
import { knownEventTypes } from "../../text/events.ts"
import { type Column, Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { shorten } from "../../url/ids.ts"
import { type DeliverySearch, deliverySearch, noDeliveryFilter } from "../../url/searches.ts"
import { EndpointOf } from "../../ui/EndpointName.tsx"
import { nameOf } from "../../url/endpointUrl.ts"
import { ChoiceLinks, FilterChip, Filters, FilterSelect, TimeFilter } from "../lists/Filters.tsx"
import { count } from "../../ui/numbers.ts"
import { SubmissionSnippet } from "../../ui/SubmissionSnippet.tsx"
import { EmptyList, ListPanel } from "../lists/ListPanel.tsx"
import { usePages } from "../lists/usePages.ts"
import { outcomeOf } from "./whatToDo.ts"

const statusChoices = [
  [undefined, texts.list.all],
  ["failed", texts.status.delivery["failed"]!],
  ["retrying", texts.status.delivery["retrying"]!],
  ["endpoint_disabled", texts.status.delivery["endpoint_disabled"]!],
  ["succeeded", texts.status.delivery["succeeded"]!]
] as const

const rowsOfNone: ReadonlyArray<WebhookDelivery> = []

const useRead: UseRead<WebhookDelivery> = (rows) =>
  useQueries({
    queries: rows.map(({ endpointId, id }) => ({
      ...deliveryQuery(endpointId, id),
      refetchInterval: everyUnsettled(pollMs.list)
    }))
  })

/** The endpoints to choose from, with the chosen one if it is deleted. */
const choicesOf = (
  all: ReadonlyArray<WebhookEndpoint>,
  chosen: string | undefined
): ReadonlyArray<readonly [id: string, name: string]> => [
  ...all.map((endpoint): readonly [string, string] => [endpoint.id, nameOf(endpoint)]),
  ...(chosen === undefined || all.some(({ id }) => id === chosen) ? [] : [[chosen, shorten(chosen)] as const])
]

/** The deliveries of the organization, or of one endpoint. */
export const DeliveryList = ({ endpoint: only }: { readonly endpoint?: string }) => {
  const { id: org } = useCurrentOrganization()
  const [, navigate] = useLocation()
  const { dropped, value } = deliverySearch.read(useSearch())
  const search: DeliverySearch = { ...value, endpoint: only ?? value.endpoint, in: undefined }
  const endpoints = useQuery(endpointsQuery(org))
  const deliveries = useQuery(deliveriesQuery(org, search))
  const config = useQuery(configQuery)
  const overview = useQuery(overviewQuery(org))
  const page = deliveries.data
  const listKey = JSON.stringify(search)
  const { rows, show, waiting } = useSteadyRows(
    listKey,
    page?.data ?? rowsOfNone,
    deliveries.dataUpdatedAt,
    deliveries.isPlaceholderData,
    isUnsettled,
    useRead
  )

  const listPath = only === undefined ? paths.deliveries(org) : paths.endpointTab(org, only, "deliveries")
  const write = (next: DeliverySearch) =>
    deliverySearch.write({ ...next, endpoint: only === undefined ? next.endpoint : undefined, in: undefined })
  const listAddress = (change: Partial<DeliverySearch>) =>
    `${listPath}${write({ ...search, cursor: undefined, ...change })}`
  const filter = (change: Partial<DeliverySearch>) => navigate(listAddress(change))
  const rowAddress = ({ endpointId, id }: WebhookDelivery) =>
    `${paths.delivery(org, endpointId, id)}${deliverySearch.write({
      ...search,
      endpoint: only === undefined ? search.endpoint : undefined,
      in: only === undefined ? undefined : "endpoint"
    })}`
  const pages = usePages(
    search.cursor,
    // The page before leads to this one.
    deliveries.isPlaceholderData ? undefined : page?.nextCursor,
    (cursor) => `${listPath}${write({ ...search, cursor })}`
  )
  const columns: ReadonlyArray<Column<WebhookDelivery>> = [
    {
      head: texts.list.status,
      cell: ({ nextRetryAt, status }) => (
        <span className="line">
          <StatusBadge of="delivery" status={status} quiet />
          {nextRetryAt !== null && (
            <span className="small muted">
              {texts.delivery.next} <Instant at={nextRetryAt} isAwaited />
            </span>
          )}
        </span>
      )
    },
    { head: texts.delivery.event, cell: ({ eventType }) => <EventType type={eventType} /> },
    ...(only === undefined
      ? [
          {
            head: texts.endpoints.endpoint,
            leftOut: "narrowest" as const,
            cell: ({ endpointId }: WebhookDelivery) => <EndpointOf id={endpointId} endpoints={endpoints.data} />
          }
        ]
      : []),
    { head: texts.delivery.attempts, isNumber: true, leftOut: "narrow", cell: ({ attemptCount }) => attemptCount },
    { head: texts.delivery.response, cell: outcomeOf },
    {
      head: texts.created,
      cell: ({ createdAt }) => <Instant at={createdAt} />
    }
  ]
  const endpointChoices = choicesOf(endpoints.data ?? [], search.endpoint)
  // Of all deliveries, or of those of one endpoint. The other filters do not count.
  const counted = overview.data?.endpoints.filter(({ endpointId }) => (search.endpoint ?? endpointId) === endpointId)
  const countOf = (status: DeliverySearch["status"]) => {
    if (counted === undefined || (status !== "failed" && status !== "retrying")) return undefined
    const sum = counted.reduce((all, each) => all + (status === "failed" ? each.failed24h : each.retrying), 0)
    if (sum === 0) return undefined
    return [count(sum), status === "failed" ? texts.list.inDay(count(sum)) : texts.list.now(count(sum))] as const
  }
  const isFiltered = listKey !== JSON.stringify({ ...noDeliveryFilter, endpoint: only })
  return (
    <div className="stack">
      <Filters>
        <ChoiceLinks
          label={texts.list.status}
          choices={statusChoices.map(([status, label]) => ({
            label,
            to: listAddress({ status }),
            isCurrent: search.status === status,
            count: countOf(status)
          }))}
        />
        {only === undefined && (endpointChoices.length > 1 || search.endpoint !== undefined) && (
          <FilterSelect
            label={texts.endpoints.endpoint}
            all={texts.filters.allEndpoints}
            value={search.endpoint}
            options={endpointChoices}
            onChange={(endpoint) => filter({ endpoint })}
          />
        )}
        <FilterSelect
          label={texts.endpoints.types}
          all={texts.filters.allTypes}
          value={search.type}
          options={knownEventTypes.map((type) => [type, type])}
          onChange={(type) => filter({ type: type as DeliverySearch["type"] })}
        />
        <TimeFilter range={search} onChange={filter} />
        {search.event !== undefined && (
          <FilterChip label={shorten(search.event)} onRemove={() => filter({ event: undefined })} />
        )}
        {search.invoice !== undefined && (
          <FilterChip label={shorten(search.invoice)} onRemove={() => filter({ invoice: undefined })} />
        )}
      </Filters>
      <ListPanel
        title={only === undefined ? texts.delivery.listAll : texts.delivery.list}
        query={deliveries}
        waiting={waiting}
        onShow={show}
        isFirstPage={search.cursor === undefined}
        dropped={dropped}
      >
        <Table
          caption={texts.delivery.list}
          columns={columns}
          rows={rows}
          idOf={({ id }) => id}
          timeOf={({ createdAt }) => createdAt}
          addressOf={rowAddress}
          empty={
            <EmptyList
              isFiltered={isFiltered}
              empty={texts.delivery.empty}
              emptyFiltered={texts.delivery.emptyFiltered(config.data?.eventRetentionDays)}
              action={
                endpoints.data?.length === 0 ? (
                  <ButtonLink to={paths.newEndpoint(org)}>{texts.endpoints.create}</ButtonLink>
                ) : (
                  <ButtonLink to={paths.newKey(org)}>{texts.apiKeys.create}</ButtonLink>
                )
              }
              snippet={<SubmissionSnippet />}
              clearTo={listPath}
            />
          }
        />
      </ListPanel>
      <Pager {...pages} />
    </div>
  )
}
