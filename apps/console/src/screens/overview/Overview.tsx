import type { OrganizationOverview as Counts, WebhookDelivery, WebhookEndpoint } from "@govoice/client"
import { useQuery, type UseQueryResult } from "@tanstack/react-query"
import { lazy, Suspense, useState } from "react"
import { Link, useSearch } from "wouter"
import { deliveriesQuery, endpointsQuery, keysQuery, liveTroubleQuery, overviewQuery } from "../../api/queries.ts"
import { Updated } from "../../ui/Updated.tsx"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { texts } from "../../text/texts.ts"
import { EventType } from "../../ui/EventType.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { OwnerNotices } from "../notices/lazyNotices.ts"
import { Panel } from "../../ui/Panel.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { StatusBadge } from "../../ui/StatusBadge.tsx"
import { Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { deliverySearch, healthSearch, type HealthSearch, invoiceSearch, noDeliveryFilter } from "../../url/searches.ts"
import { EndpointOf } from "../../ui/EndpointName.tsx"
import { WindowLinks } from "../endpoints/WindowLinks.tsx"
import { outcomeOf } from "../deliveries/whatToDo.ts"
import { Dropped } from "../lists/Dropped.tsx"
import { type Bar, Bars } from "../../ui/Bars.tsx"
import { Button } from "../../ui/Button.tsx"
import { classNames } from "../../ui/classNames.ts"
import { Icon } from "../../ui/Icon.tsx"
import { count } from "../../ui/numbers.ts"
import { duration } from "../../ui/times.ts"
import { barsOf } from "../endpoints/bars.ts"
import { progressQuery } from "./progress.ts"
import { EndpointTable } from "./EndpointCounts.tsx"
import { Sum } from "./Sum.tsx"
import styles from "./Overview.module.css"

const css = classNames(styles)

// Of the first day, or of a click: not part of the first load.
const BucketTable = lazy(() => import("./BucketTable.tsx"))
const Checklist = lazy(() => import("./Checklist.tsx"))
const SubmitDialog = lazy(() => import("./SubmitDialog.tsx"))

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
      title={texts.overview.troubles}
      aside={
        <Link
          className="small"
          to={`${paths.deliveries(org)}${deliverySearch.write({ ...noDeliveryFilter, status: "failed" })}`}
        >
          {texts.viewAll}
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
          caption={texts.overview.troubles}
          rows={troublesOf([...failed.data.data, ...retrying.data.data])}
          idOf={({ id }) => id}
          timeOf={({ createdAt }) => createdAt}
          addressOf={({ endpointId, id }) => paths.delivery(org, endpointId, id)}
          empty={texts.overview.noTroubles}
          columns={[
            { head: texts.list.status, cell: ({ status }) => <StatusBadge of="delivery" status={status} /> },
            { head: texts.delivery.event, cell: ({ eventType }) => <EventType type={eventType} /> },
            {
              head: texts.endpoints.endpoint,
              cell: ({ endpointId }) => <EndpointOf id={endpointId} endpoints={endpoints} />
            },
            { head: texts.delivery.response, cell: outcomeOf },
            { head: texts.created, cell: ({ createdAt }) => <Instant at={createdAt} /> }
          ]}
        />
      )}
    </Panel>
  )
}

const day = "24h"

/** Whether everything arrives: the answer in a sentence, and the figures behind it. */
const Arriving = ({ counts, org }: { readonly org: string; readonly counts: Counts | undefined }) => {
  const invoices = (status: "accepted" | "failed" | "rejected" | "submitted") =>
    `${paths.invoices(org)}${invoiceSearch.write({ ...invoiceSearch.read("").value, status })}`
  const deliveries = `${paths.deliveries(org)}${deliverySearch.write({ ...noDeliveryFilter, status: "failed" })}`
  const failedDeliveries = counts?.endpoints.reduce((sum, { failed24h }) => sum + failed24h, 0) ?? 0
  const { failed24h = 0, medianSecondsToUpo = null, rejected24h = 0 } = counts?.invoices ?? {}
  const troubles = [
    [rejected24h, texts.overview.rejectedInvoices, invoices("rejected")],
    [failed24h, texts.overview.failedInvoices, invoices("failed")],
    [failedDeliveries, texts.overview.failedDeliveries, deliveries]
  ] as const
  const all = troubles.reduce((sum, [number]) => sum + number, 0)
  // The sandbox rejects when it is told to: a test invoice raises no alarm.
  const hasInvoiceTroubles = rejected24h + failed24h > 0
  const live = useQuery({ ...liveTroubleQuery(org), enabled: hasInvoiceTroubles })
  const isIll = failedDeliveries > 0 || (hasInvoiceTroubles && live.data !== false)
  const isKnown = counts !== undefined && (failedDeliveries > 0 || !live.isLoading)
  return (
    <section className="stack" aria-label={texts.nav.overview}>
      <p className={css("verdict", isIll ? "ill" : "well")}>
        {isKnown && (
          <>
            <Icon name={isIll ? "warning" : "check"} />
            {isIll ? texts.overview.notWell : texts.overview.well}
          </>
        )}
      </p>
      <Sum
        entries={[
          {
            label: texts.overview.accepted,
            value: counts && count(counts.invoices.accepted24h),
            to: invoices("accepted")
          },
          {
            label: texts.overview.inProgress,
            value: counts && count(counts.invoices.inProgress),
            to: paths.invoices(org)
          },
          {
            label: texts.overview.attention,
            value: counts && count(all),
            tone: isIll ? "bad" : undefined,
            note:
              counts === undefined
                ? ""
                : troubles.map(([number, words, to]) =>
                    number === 0 ? null : (
                      <Link key={to} to={to}>
                        {words(count(number))}
                      </Link>
                    )
                  )
          },
          {
            label: texts.overview.median,
            value: counts && (medianSecondsToUpo === null ? "–" : duration(medianSecondsToUpo * 1000)),
            note: medianSecondsToUpo === null ? "" : texts.overview.medianNote
          }
        ]}
      />
    </section>
  )
}

/** The bars of all endpoints together. */
const together = ({ endpoints }: Counts): ReadonlyArray<Bar> => {
  const [first, ...rest] = endpoints.map(({ buckets }) => barsOf(buckets))
  return (first ?? []).map((bar, index) =>
    rest.reduce(
      (sum, bars) => ({
        ...sum,
        total: sum.total + (bars[index]?.total ?? 0),
        trouble: sum.trouble + (bars[index]?.trouble ?? 0),
        isCapped: sum.isCapped || bars[index]?.isCapped === true
      }),
      bar
    )
  )
}

/** The seconds of one bar before the counts come. */
const secondsOfWindow = { "24h": 3600, "7d": 6 * 3600 } as const

const secondsOf = (bars: ReadonlyArray<Bar>): number => (Date.parse(bars[1]!.start) - Date.parse(bars[0]!.start)) / 1000

/** The deliveries of the window, as bars or as a table. */
const Chart = ({
  endpoints,
  org,
  query,
  search
}: {
  readonly org: string
  readonly query: UseQueryResult<Counts>
  readonly endpoints: ReadonlyArray<WebhookEndpoint>
  readonly search: HealthSearch
}) => {
  const bars = query.data === undefined ? [] : together(query.data)
  const isTable = search.as === "table"
  return (
    <Panel
      flush={isTable}
      title={
        isTable
          ? texts.health.caption(search.window)
          : texts.health.chart(bars.length > 1 ? secondsOf(bars) : secondsOfWindow[search.window])
      }
      aside={<WindowLinks path={paths.overview(org)} search={search} />}
    >
      <Loaded query={query} skeleton={<Skeleton shape="chart" />}>
        {(counts) =>
          isTable ? (
            <Suspense fallback={<Skeleton rows lines={3} />}>
              <BucketTable org={org} endpoints={endpoints} counts={counts} />
            </Suspense>
          ) : bars.every(({ total }) => total === 0) ? (
            <p className="muted">{texts.health.empty}</p>
          ) : (
            <>
              <Bars label={texts.health.caption(counts.window)} bars={bars} />
              <p className="small muted">{texts.health.legend}</p>
            </>
          )
        }
      </Loaded>
    </Panel>
  )
}

const Keys = ({ org }: { readonly org: string }) => {
  const keys = useQuery(keysQuery(org))
  return (
    <Loaded query={keys} skeleton={<Skeleton lines={1} />}>
      {(all) =>
        all[0] !== undefined && (
          <p className="small muted">
            {texts.overview.keys(
              all.filter(({ mode }) => mode === "test").length,
              all.filter(({ mode }) => mode === "live").length
            )}{" "}
            <Instant at={all[0].createdAt} />. <Link to={paths.keys(org)}>{texts.overview.openKeys}</Link>
          </p>
        )
      }
    </Loaded>
  )
}

/** One look at the organization: what is left to set up, or whether everything arrives. */
export const Overview = () => {
  const { id: org } = useCurrentOrganization()
  const { dropped, value: search } = healthSearch.read(useSearch())
  const endpoints = useQuery(endpointsQuery(org))
  const ofDay = useQuery(overviewQuery(org, day))
  const overview = useQuery(overviewQuery(org, search.window))
  const progress = useQuery(progressQuery(org))
  const [isSubmitting, setSubmitting] = useState(false)
  // Decided once: the list tells itself when its last step is done, and its dialog stays open meanwhile.
  const [wasSetUp, setWasSetUp] = useState<boolean>()
  if (wasSetUp === undefined && progress.data !== undefined) setWasSetUp(progress.data === null)
  // Before the first invoice there is nothing to count.
  const isNew = progress.data?.invoice === null
  return (
    <Screen
      title={texts.nav.overview}
      actions={
        <>
          {!isNew && (
            <Button icon="invoice" onClick={() => setSubmitting(true)}>
              {texts.submit.button}
            </Button>
          )}
          <Updated updatedAt={overview.dataUpdatedAt} />
        </>
      }
    >
      <div className="stack">
        <Dropped names={dropped} />
        {/* All at once: what comes above the rest would move it. */}
        <Suspense fallback={<Skeleton shape="figures" />}>
          {(progress.data === undefined && progress.error === null) ||
          (ofDay.data === undefined && ofDay.error === null) ? (
            <Skeleton shape="figures" />
          ) : (
            <>
              {ofDay.data !== undefined && ofDay.data.notices.length > 0 && (
                <OwnerNotices org={org} notices={ofDay.data.notices} endpoints={endpoints.data} />
              )}
              {wasSetUp === false && <Checklist org={org} />}
              {!isNew && (
                <>
                  {/* The chart shows the error of the counts of 24 hours, unless it shows another window. */}
                  {search.window !== day && ofDay.error !== null && (
                    <ProblemNotice
                      error={ofDay.error}
                      asOf={ofDay.dataUpdatedAt}
                      onRetry={() => void ofDay.refetch()}
                    />
                  )}
                  {typeof ofDay.data?.limitedSince === "string" && (
                    <Notice tone="warn">
                      <p>
                        {texts.overview.limitedSince} <Instant at={ofDay.data.limitedSince} />.{" "}
                        {texts.overview.limitedRemedy}
                      </p>
                    </Notice>
                  )}
                  <Arriving org={org} counts={ofDay.data} />
                  <Chart org={org} query={overview} endpoints={endpoints.data ?? []} search={search} />
                  <Panel title={texts.overview.endpoints} flush>
                    <Loaded query={endpoints} skeleton={<Skeleton rows lines={2} />}>
                      {(rows) => <EndpointTable org={org} endpoints={rows} counts={overview.data} search={search} />}
                    </Loaded>
                  </Panel>
                  <Troubles org={org} endpoints={endpoints.data ?? []} />
                  <Keys org={org} />
                </>
              )}
            </>
          )}
        </Suspense>
      </div>
      {isSubmitting && (
        <Suspense fallback={null}>
          <SubmitDialog org={org} onClose={() => setSubmitting(false)} />
        </Suspense>
      )}
    </Screen>
  )
}
