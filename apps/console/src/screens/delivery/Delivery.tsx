import type { WebhookDelivery } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Link, useSearch } from "wouter"
import { deliveryQuery, endpointsQuery, invoiceOfEventQuery } from "../../api/queries.ts"
import { texts } from "../../text/texts.ts"
import { classNames } from "../../ui/classNames.ts"
import { guides } from "../../ui/guides.tsx"
import { Icon, type IconName } from "../../ui/Icon.tsx"
import { Id } from "../../ui/Id.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { Screen } from "../../ui/Screen.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { iconOf, StatusBadge, type Tone, toneOf } from "../../ui/StatusBadge.tsx"
import { Updated } from "../../ui/Updated.tsx"
import { partsOf } from "../../url/endpointUrl.ts"
import { shorten } from "../../url/ids.ts"
import { paths } from "../../url/paths.ts"
import { deliverySearch, noDeliveryFilter } from "../../url/searches.ts"
import { adviceFor, outcomeOf } from "../deliveries/whatToDo.ts"
import { ConnectionCauses } from "./ConnectionCauses.tsx"
import styles from "./Delivery.module.css"

const css = classNames(styles)

interface Step {
  readonly icon: IconName
  readonly tone: Tone
  readonly words: string
  readonly note?: string | undefined
  readonly at: string | null
  readonly isAwaited?: boolean
}

/** The steps of a record in the order of time: its creation, the last attempt, and the next one or the end. */
const stepsOf = (record: WebhookDelivery): ReadonlyArray<Step> => {
  const { attemptCount, createdAt, lastAttemptedAt, nextRetryAt, status } = record
  const isDone = status === "succeeded"
  const attempt: Step = {
    icon: isDone ? "check" : "cross",
    tone: isDone ? "good" : "bad",
    words: [texts.delivery.attempt(attemptCount), outcomeOf(record)].filter(Boolean).join(": "),
    note: attemptCount > 1 ? texts.delivery.earlier(attemptCount - 1) : undefined,
    at: lastAttemptedAt
  }
  const next: Step =
    status === "retrying"
      ? { icon: "retry", tone: "warn", words: texts.delivery.nextAttempt, at: nextRetryAt, isAwaited: true }
      : {
          icon: iconOf(status),
          tone: toneOf(status),
          words: texts.delivery.ends[status] ?? texts.status.delivery[status] ?? status,
          at: null
        }
  return [
    { icon: "dotted", tone: "muted", words: texts.delivery.planned, at: createdAt },
    ...(lastAttemptedAt === null ? [] : [attempt]),
    ...(isDone ? [] : [next])
  ]
}

const Timeline = ({ children, record }: { readonly record: WebhookDelivery; readonly children: ReactNode }) => (
  <ol className={css("timeline")}>
    {stepsOf(record).map(({ at, icon, isAwaited = false, note, tone, words }) => (
      <li key={words} className={css("step", tone)}>
        <Icon name={icon} />
        <div>
          <p className="strong">{words}</p>
          {(at !== null || note !== undefined) && (
            <p className="muted">
              {at !== null && (
                <>
                  <Instant at={at} isAwaited={isAwaited} />
                  {", "}
                  <Instant at={at} whole />
                </>
              )}
              {note !== undefined && <span className={css("note")}>{note}</span>}
            </p>
          )}
        </div>
      </li>
    ))}
    {children}
  </ol>
)

/** What the receiver has to change. A delivery that arrived or is on its way needs nothing. */
const Advice = ({ record, url }: { readonly record: WebhookDelivery; readonly url: string | undefined }) => {
  const advice = adviceFor(record)
  if (advice === "succeeded" || advice === "underway") return null
  return (
    <li className={css("step")}>
      <Icon name="right" />
      <section className={css("advice")}>
        <h3>{texts.delivery.whatToDo}</h3>
        <p>{texts.advice[advice]}</p>
        {advice === "connection" && url !== undefined && <ConnectionCauses url={url} />}
        <p className="small muted">{texts.delivery.neverTwice}</p>
        <div>{guides.webhooks}</div>
      </section>
    </li>
  )
}

/** The link to the invoice of an event. The record of a delivery does not name it. */
const InvoiceOfEvent = ({ event, org }: { readonly org: string; readonly event: string }) => {
  const { data, error, refetch } = useQuery(invoiceOfEventQuery(org, event))
  if (error !== null) return <ProblemNotice error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton lines={1} />
  if (data === null) return <span className="muted">{texts.delivery.noInvoice}</span>
  return (
    <Link to={paths.invoice(org, data.id)}>{data.document?.number ?? data.officialNumber ?? shorten(data.id)}</Link>
  )
}

/** One delivery: what is known of it in the order of time, and what it belongs to. */
const Delivery = ({ endpoint, id }: { readonly endpoint: string; readonly id: string }) => {
  const { id: org } = useCurrentOrganization()
  const delivery = useQuery(deliveryQuery(endpoint, id))
  const { data: endpoints } = useQuery(endpointsQuery(org))
  const url = endpoints?.find((each) => each.id === endpoint)?.url
  const search = deliverySearch.read(useSearch()).value
  const isOfEndpoint = search.in === "endpoint"
  const list = isOfEndpoint ? paths.endpointTab(org, endpoint, "deliveries") : paths.deliveries(org)
  return (
    <Screen
      title={delivery.data?.eventType ?? texts.delivery.title}
      part={texts.delivery.titleOfOne(shorten(id))}
      parent={{
        label: isOfEndpoint && url !== undefined ? partsOf(url).host : texts.nav.deliveries,
        to: `${list}${deliverySearch.write({ ...search, in: undefined })}`
      }}
      beside={delivery.data !== undefined && <StatusBadge of="delivery" status={delivery.data.status} />}
    >
      <div className="stack">
        <Loaded query={delivery} skeleton={<Skeleton lines={8} />}>
          {(record) => (
            <>
              <Panel title={texts.delivery.course} aside={<Updated updatedAt={delivery.dataUpdatedAt} />}>
                <Timeline record={record}>
                  <Advice record={record} url={url} />
                </Timeline>
              </Panel>
              <Panel
                title={texts.delivery.title}
                aside={
                  <Link
                    className="small"
                    to={`${paths.deliveries(org)}${deliverySearch.write({ ...noDeliveryFilter, event: record.eventId })}`}
                  >
                    {texts.delivery.allOfEvent}
                  </Link>
                }
              >
                <Facts
                  entries={[
                    [texts.invoice.title, <InvoiceOfEvent org={org} event={record.eventId} />],
                    [
                      texts.endpoints.endpoint,
                      <Link to={paths.endpoint(org, endpoint)}>{url ?? shorten(endpoint)}</Link>
                    ],
                    [texts.delivery.eventId, <Id id={record.eventId} />],
                    [texts.delivery.id, <Id id={record.id} />]
                  ]}
                />
              </Panel>
            </>
          )}
        </Loaded>
      </div>
    </Screen>
  )
}

export default Delivery
