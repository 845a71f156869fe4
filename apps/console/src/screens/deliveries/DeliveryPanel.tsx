import type { WebhookDelivery } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import { Link } from "wouter"
import { deliveryQuery } from "../../api/queries.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { classNames } from "../../ui/classNames.ts"
import { Icon, type IconName } from "../../ui/Icon.tsx"
import { Id } from "../../ui/Id.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Facts } from "../../ui/Panel.tsx"
import { iconOf, StatusBadge, type Tone, toneOf } from "../../ui/StatusBadge.tsx"
import { deliverySearch, noDeliveryFilter } from "../../url/searches.ts"
import { paths } from "../../url/paths.ts"
import { ConnectionCauses } from "./ConnectionCauses.tsx"
import { InvoiceOfEvent } from "./InvoiceOfEvent.tsx"
import { adviceFor } from "./whatToDo.ts"
import styles from "./DeliveryPanel.module.css"

const css = classNames(styles)

export interface OpenDelivery {
  readonly endpoint: string
  readonly delivery: string
}

interface Step {
  readonly icon: IconName
  readonly tone: Tone
  readonly words: string
  readonly at: string | null
}

/** The steps of a record: its creation, the last attempt, and the next one or the end. */
const stepsOf = (record: WebhookDelivery): ReadonlyArray<Step> => {
  const { attemptCount, createdAt, deliveredAt, lastAttemptedAt, lastHttpStatus, nextRetryAt, status } = record
  const answer = lastHttpStatus === null ? record.lastErrorSummary : en.delivery.http(lastHttpStatus)
  return [
    { icon: "dotted", tone: "muted", words: en.delivery.created, at: createdAt },
    ...(lastAttemptedAt === null
      ? []
      : [
          {
            icon: status === "succeeded" ? ("check" as const) : ("cross" as const),
            tone: status === "succeeded" ? ("good" as const) : ("bad" as const),
            words: [en.delivery.attempt(attemptCount), answer].filter(Boolean).join(": "),
            at: lastAttemptedAt
          }
        ]),
    ...(status === "retrying"
      ? [{ icon: "retry" as const, tone: "warn" as const, words: en.delivery.nextAttempt, at: nextRetryAt }]
      : [
          {
            icon: iconOf(status),
            tone: toneOf(status),
            words: en.delivery.ends[status] ?? en.status[status] ?? status,
            at: deliveredAt
          }
        ])
  ]
}

const Timeline = ({ steps }: { readonly steps: ReadonlyArray<Step> }) => (
  <ol className={css("timeline")}>
    {steps.map(({ at, icon, tone, words }) => (
      <li key={words} className={css("step", tone)}>
        <Icon name={icon} />
        <span>{words}</span>
        {at !== null && (
          <span className={css("at")}>
            <Instant at={at} />
          </span>
        )}
      </li>
    ))}
  </ol>
)

const Details = ({ record, url }: { readonly record: WebhookDelivery; readonly url: string | undefined }) => {
  const { id: org } = useCurrentOrganization()
  const advice = adviceFor(record)
  return (
    <>
      <Timeline steps={stepsOf(record)} />
      {record.lastErrorSummary !== null && <p className="strong">{record.lastErrorSummary}</p>}
      <section className={css("advice")} data-panel="">
        <h3>{en.delivery.whatToDo}</h3>
        <p>{en.advice[advice]}</p>
        {advice === "connection" && url !== undefined && <ConnectionCauses url={url} />}
        {record.status !== "succeeded" && <p className="small muted">{en.delivery.neverTwice}</p>}
      </section>
      <Facts
        entries={[
          [en.delivery.event, <code>{record.eventType}</code>],
          [
            en.endpoints.endpoint,
            <>
              {url !== undefined && <code className={css("url")}>{url}</code>}
              <Link to={paths.endpoint(org, record.endpointId)}>{en.delivery.openEndpoint}</Link>
            </>
          ],
          [en.delivery.attempts, record.attemptCount],
          [en.created, <Instant at={record.createdAt} whole />],
          [en.delivery.lastAttempt, record.lastAttemptedAt && <Instant at={record.lastAttemptedAt} whole />],
          [en.delivery.nextAttempt, record.nextRetryAt && <Instant at={record.nextRetryAt} whole />],
          [en.delivery.deliveredAt, record.deliveredAt && <Instant at={record.deliveredAt} whole />],
          [en.delivery.eventId, <Id id={record.eventId} />],
          [en.delivery.id, <Id id={record.id} />]
        ]}
      />
      <div className="line-wide small">
        <Link to={`${paths.deliveries(org)}${deliverySearch.write({ ...noDeliveryFilter, event: record.eventId })}`}>
          {en.delivery.allOfEvent}
        </Link>
        <InvoiceOfEvent org={org} event={record.eventId} />
      </div>
    </>
  )
}

/** One delivery: beside its list, or alone where there is no room for both. It gives the focus back to its row. */
export const DeliveryPanel = ({
  isAlone,
  onClose,
  open,
  url
}: {
  readonly open: OpenDelivery
  readonly isAlone: boolean
  readonly url: string | undefined
  readonly onClose: () => void
}) => {
  const delivery = useQuery(deliveryQuery(open.endpoint, open.delivery))
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    if (isAlone) scrollTo(0, 0)
    return () => {
      // A list that stood beside the panel stays where it is.
      const row = document.querySelector<HTMLElement>(`[data-row="${CSS.escape(open.delivery)}"] a`)
      row?.focus({ preventScroll: !isAlone })
    }
  }, [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && document.querySelector("dialog[open], :popover-open") === null) onClose()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [onClose])
  return (
    <aside className={css("panel")} aria-labelledby="delivery-title" data-panel="">
      <div className={css("head")}>
        <h2 id="delivery-title" ref={heading} tabIndex={-1} className={css("title")}>
          {en.delivery.title}
        </h2>
        {delivery.data !== undefined && <StatusBadge of="delivery" status={delivery.data.status} />}
        <span className="push">
          <Button kind="quiet" size="small" icon="cross" aria-label={en.delivery.close} onClick={onClose} />
        </span>
      </div>
      <div className={css("body")}>
        <Loaded query={delivery}>{(record) => <Details record={record} url={url} />}</Loaded>
      </div>
    </aside>
  )
}
