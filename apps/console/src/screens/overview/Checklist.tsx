import type { WebhookDelivery } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { Link } from "wouter"
import { en } from "../../text/en.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { classNames } from "../../ui/classNames.ts"
import { Icon } from "../../ui/Icon.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { StatusBadge } from "../../ui/StatusBadge.tsx"
import { duration } from "../../ui/times.ts"
import { paths } from "../../url/paths.ts"
import { progressQuery } from "./progress.ts"
import { SubmissionSnippet } from "../../ui/SubmissionSnippet.tsx"
import { SubmitFromHere } from "./SubmitFromHere.tsx"
import styles from "./Checklist.module.css"

const css = classNames(styles)

/** `invoice.received → 204 after 38 ms` */
const Outcome = ({ delivery, org }: { readonly org: string; readonly delivery: WebhookDelivery }) => {
  const { endpointId, eventType, id, status } = delivery
  return (
    <p className="line small">
      <StatusBadge of="delivery" status={status} />
      <Link to={paths.delivery(org, endpointId, id)}>{eventType}</Link>
      <Answer delivery={delivery} />
    </p>
  )
}

/** `204 after 38 ms` */
const Answer = ({ delivery: { createdAt, deliveredAt, lastHttpStatus } }: { readonly delivery: WebhookDelivery }) => (
  <>
    {lastHttpStatus !== null && <span>{en.delivery.http(lastHttpStatus)}</span>}{" "}
    {deliveredAt !== null && (
      <span>{en.checklist.after(duration(Date.parse(deliveredAt) - Date.parse(createdAt)))}</span>
    )}
  </>
)

interface Step {
  readonly name: string
  readonly title: string
  readonly isDone: boolean
  readonly content: ReactNode
}

const FirstInvoice = ({ onSubmit }: { readonly onSubmit: () => void }) => (
  <>
    <p className="muted">{en.checklist.invoiceMeaning}</p>
    <div>
      <Button kind="primary" icon="invoice" onClick={onSubmit}>
        {en.checklist.fromHere}
      </Button>
    </div>
    <SubmissionSnippet />
  </>
)

const Steps = ({ onSubmit, org }: { readonly org: string; readonly onSubmit: () => void }) => {
  const progress = useQuery(progressQuery(org))
  if (progress.data?.delivered)
    return (
      <p className={css("folded")}>
        <Icon name="check" />
        <span>
          {en.checklist.complete}{" "}
          <Link to={paths.delivery(org, progress.data.delivered.endpointId, progress.data.delivered.id)}>
            {en.checklist.newestDelivered}
          </Link>{" "}
          <Answer delivery={progress.data.delivered} />
        </span>
      </p>
    )
  return (
    // As high as the line of an owner who is done, so that nothing below moves when it comes.
    <Loaded query={progress} skeleton={<Skeleton lines={1} />}>
      {({ delivered, endpoint, invoice, key, newest }) => {
        const steps: ReadonlyArray<Step> = [
          { name: en.checklist.account, title: "", isDone: true, content: null },
          { name: en.checklist.organization, title: "", isDone: true, content: null },
          {
            name: en.checklist.key,
            title: en.checklist.keyTitle,
            isDone: key !== null,
            content: (
              <>
                <p className="muted">{en.checklist.keyMeaning}</p>
                <div>
                  <ButtonLink to={paths.newKey(org)} kind="primary" icon="key">
                    {en.apiKeys.create}
                  </ButtonLink>
                </div>
              </>
            )
          },
          {
            name: en.checklist.endpoint,
            title: en.checklist.endpointTitle,
            isDone: endpoint !== null,
            content: (
              <>
                <p className="muted">{en.checklist.endpointMeaning}</p>
                <div>
                  <ButtonLink to={paths.newEndpoint(org)} kind="primary" icon="endpoint">
                    {en.endpoints.create}
                  </ButtonLink>
                </div>
              </>
            )
          },
          {
            name: en.checklist.invoice,
            title: en.checklist.invoiceTitle,
            isDone: invoice !== null,
            content: <FirstInvoice onSubmit={onSubmit} />
          },
          {
            name: en.checklist.webhook,
            title: en.checklist.webhookTitle,
            isDone: delivered !== null,
            content: (
              <>
                <p className="muted">
                  {newest === null
                    ? invoice === null
                      ? en.checklist.webhookLater
                      : en.checklist.webhookNone
                    : en.checklist.webhookWaiting}
                </p>
                {newest !== null && <Outcome org={org} delivery={newest} />}
                {newest === null && invoice !== null && <FirstInvoice onSubmit={onSubmit} />}
                <p className="small muted">{en.checklist.verifiedMeaning}</p>
              </>
            )
          }
        ]
        const done = steps.filter(({ isDone }) => isDone)
        const open = steps.filter(({ isDone }) => !isDone)
        return (
          <Panel
            title={en.checklist.title}
            aside={<span className={css("count")}>{en.checklist.count(done.length, steps.length)}</span>}
          >
            <div className={css("steps")}>
              <ul className={css("done")}>
                {done.map(({ name }) => (
                  <li key={name}>
                    <Icon name="check" label={en.checklist.done} />
                    {name}
                  </li>
                ))}
              </ul>
              <ol>
                {open.map(({ content, name, title }, index) => (
                  <li key={name} className={css("step", index === 0 ? "current" : "later")}>
                    <span className={css("number")} aria-hidden="true">
                      {steps.findIndex((step) => step.name === name) + 1}
                    </span>
                    <div className={css("content")}>
                      <h3>{title}</h3>
                      {index === 0 && content}
                    </div>
                  </li>
                ))}
              </ol>
            </div>
          </Panel>
        )
      }}
    </Loaded>
  )
}

/** The steps from the account to the first delivered webhook. Folds to one line when the last is done. */
export const Checklist = ({ org }: { readonly org: string }) => {
  // The dialog outlives the step that opened it, which is done as soon as the invoice is submitted.
  const [isSubmitting, setSubmitting] = useState(false)
  return (
    <>
      <Steps org={org} onSubmit={() => setSubmitting(true)} />
      {isSubmitting && <SubmitFromHere org={org} onClose={() => setSubmitting(false)} />}
    </>
  )
}
