import { listDeliveries, type WebhookDeliveryStats, type WebhookEndpoint } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { Link, useSearch } from "wouter"
import { connection } from "../../api/connection.ts"
import { every, pollMs } from "../../api/polling.ts"
import { mostCounted, statsQuery } from "../../api/queries.ts"
import { Updated } from "../../ui/Updated.tsx"
import { texts } from "../../text/texts.ts"
import { Bars } from "../../ui/Bars.tsx"
import { EmptyState } from "../../ui/EmptyState.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { count } from "../../ui/numbers.ts"
import { Panel } from "../../ui/Panel.tsx"
import { Table } from "../../ui/Table.tsx"
import { duration } from "../../ui/times.ts"
import { healthSearch } from "../../url/searches.ts"
import { paths } from "../../url/paths.ts"
import { barsOf } from "./bars.ts"
import { bucketColumns } from "./bucketColumns.tsx"
import { percentile } from "./percentile.ts"
import { WindowLinks } from "./WindowLinks.tsx"
import { classNames } from "../../ui/classNames.ts"
import styles from "./Health.module.css"

const css = classNames(styles)

/** Time from the event to the answer, over the newest hundred that succeeded at the first attempt. */
const timesQuery = (endpoint: string) => ({
  queryKey: ["endpoints", endpoint, "times"],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
    const { data } = await listDeliveries(connection, endpoint, {
      limit: 100,
      status: "succeeded",
      signal
    }).page()
    const times = data
      .filter(({ attemptCount, deliveredAt }) => attemptCount === 1 && deliveredAt !== null)
      .map(({ createdAt, deliveredAt }) => Date.parse(deliveredAt!) - Date.parse(createdAt))
      .sort((one, other) => one - other)
    return times.length === 0
      ? null
      : { p50: percentile(times, 0.5), p95: percentile(times, 0.95), count: times.length }
  },
  refetchInterval: every(pollMs.picture)
})

const Figure = ({
  label,
  note,
  value
}: {
  readonly label: string
  readonly value: string
  readonly note?: string | undefined
}) => (
  <div className={css("number")}>
    <dt>{label}</dt>
    <dd>
      {value}
      {note !== undefined && <span className={css("note")}>{note}</span>}
    </dd>
  </div>
)

const Numbers = ({ endpoint, stats }: { readonly endpoint: string; readonly stats: WebhookDeliveryStats }) => {
  const { data: times, error } = useQuery(timesQuery(endpoint))
  const failed = stats.buckets.reduce((sum, bucket) => sum + bucket.failed, 0)
  return (
    <dl className={css("numbers")}>
      <Figure label={texts.health.waiting} value={count(stats.now.waiting, mostCounted)} />
      <Figure label={texts.health.retrying} value={count(stats.now.retrying, mostCounted)} />
      <Figure label={texts.health.failed(stats.window)} value={count(failed, mostCounted)} />
      <Figure
        label={texts.health.time}
        value={times ? `${duration(times.p50)} / ${duration(times.p95)}` : "–"}
        note={
          times
            ? texts.health.timeNote(times.count)
            : times === null
              ? texts.health.timeNone
              : error === null
                ? undefined
                : texts.health.timeUnread
        }
      />
    </dl>
  )
}

/** The health of an endpoint: four numbers, and bars with a table of the same counts. */
export const Health = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const { value: search } = healthSearch.read(useSearch())
  const stats = useQuery(statsQuery(endpoint.id, search.window))
  const path = paths.endpoint(endpoint.organizationId, endpoint.id)
  return (
    <Panel
      title={texts.health.title}
      aside={
        <>
          <WindowLinks path={path} search={search} />
          <Updated updatedAt={stats.dataUpdatedAt} />
        </>
      }
    >
      <Loaded query={stats}>
        {(found) => (
          <>
            <Numbers endpoint={endpoint.id} stats={found} />
            {found.buckets.every(({ total }) => total === 0) ? (
              <EmptyState sentence={texts.health.empty}>
                <Link to={paths.endpointTab(endpoint.organizationId, endpoint.id, "receiver")}>
                  {texts.health.emptyAction}
                </Link>
              </EmptyState>
            ) : search.as === "bars" ? (
              <figure className={css("figure")}>
                <Bars label={texts.health.caption(found.window)} bars={barsOf(found.buckets)} />
                <figcaption className="small muted">
                  {texts.health.chart(found.bucketSeconds)}. {texts.health.legend}
                </figcaption>
              </figure>
            ) : (
              <Table
                caption={texts.health.caption(found.window)}
                idOf={({ start }) => start}
                rows={found.buckets.filter(({ total }) => total > 0).toReversed()}
                empty={texts.health.empty}
                columns={bucketColumns}
              />
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}
