import type { WebhookDelivery } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react"
import { Link } from "wouter"
import { every, pollMs } from "../../api/polling.ts"
import { overviewQuery } from "../../api/queries.ts"
import { texts } from "../../text/texts.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { classNames } from "../../ui/classNames.ts"
import { Icon } from "../../ui/Icon.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { StatusBadge } from "../../ui/StatusBadge.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { duration } from "../../ui/times.ts"
import { paths } from "../../url/paths.ts"
import { progressQuery } from "./progress.ts"
import { SubmissionSnippet } from "../../ui/SubmissionSnippet.tsx"
import styles from "./Checklist.module.css"

const css = classNames(styles)

// Of a click: not part of the first load.
const SubmitDialog = lazy(() => import("./SubmitDialog.tsx"))

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
    {lastHttpStatus !== null && <span>{`HTTP ${lastHttpStatus}`}</span>}{" "}
    {deliveredAt !== null && (
      <span>{texts.checklist.after(duration(Date.parse(deliveredAt) - Date.parse(createdAt)))}</span>
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
    <p className="muted">{texts.checklist.invoiceMeaning}</p>
    <div>
      <Button kind="primary" icon="invoice" onClick={onSubmit}>
        {texts.submit.button}
      </Button>
    </div>
    <SubmissionSnippet />
  </>
)

/** The steps that are open. None when a webhook was delivered. */
const Steps = ({ onSubmit, org }: { readonly org: string; readonly onSubmit: () => void }) => {
  const progress = useQuery(progressQuery(org))
  // The counts that take the place of the steps: they would still be those from before the first invoice.
  useQuery({ ...overviewQuery(org), refetchInterval: every(pollMs.list) })
  const isComplete = progress.data === undefined ? undefined : progress.data === null
  const wasOpen = useRef(false)
  useEffect(() => {
    if (isComplete === true && wasOpen.current) toast(texts.checklist.complete)
    wasOpen.current = isComplete === false
  }, [isComplete])
  return (
    <Loaded query={progress} skeleton={null}>
      {(newestRecords) => {
        if (newestRecords === null) return null
        const { endpoint, invoice, key, newest } = newestRecords
        const steps: ReadonlyArray<Step> = [
          { name: texts.checklist.account, title: "", isDone: true, content: null },
          { name: texts.checklist.organization, title: "", isDone: true, content: null },
          {
            name: texts.checklist.key,
            title: texts.checklist.keyTitle,
            isDone: key !== null,
            content: (
              <>
                <p className="muted">{texts.checklist.keyMeaning}</p>
                <div>
                  <ButtonLink to={paths.newKey(org)} kind="primary" icon="key">
                    {texts.apiKeys.create}
                  </ButtonLink>
                </div>
              </>
            )
          },
          {
            name: texts.checklist.endpoint,
            title: texts.checklist.endpointTitle,
            isDone: endpoint !== null,
            content: (
              <>
                <p className="muted">{texts.checklist.endpointMeaning}</p>
                <div>
                  <ButtonLink to={paths.newEndpoint(org)} kind="primary" icon="endpoint">
                    {texts.endpoints.create}
                  </ButtonLink>
                </div>
              </>
            )
          },
          {
            name: texts.checklist.invoice,
            title: texts.checklist.invoiceTitle,
            isDone: invoice !== null,
            content: <FirstInvoice onSubmit={onSubmit} />
          },
          {
            name: texts.checklist.webhook,
            title: texts.checklist.webhookTitle,
            isDone: false,
            content: (
              <>
                <p className="muted">
                  {newest === null
                    ? invoice === null
                      ? texts.checklist.webhookLater
                      : texts.checklist.webhookNone
                    : texts.checklist.webhookWaiting}
                </p>
                {newest !== null && <Outcome org={org} delivery={newest} />}
                {newest === null && invoice !== null && <FirstInvoice onSubmit={onSubmit} />}
                <p className="small muted">{texts.checklist.verifiedMeaning}</p>
              </>
            )
          }
        ]
        const done = steps.filter(({ isDone }) => isDone)
        const open = steps.filter(({ isDone }) => !isDone)
        return (
          <Panel
            title={texts.checklist.title}
            aside={<span className={css("count")}>{texts.checklist.count(done.length, steps.length)}</span>}
          >
            <div className={css("steps")}>
              <ul className={css("done")}>
                {done.map(({ name }) => (
                  <li key={name}>
                    <Icon name="check" label={texts.checklist.done} />
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

/** The steps from the account to the first delivered webhook. Goes when the last is done. */
const Checklist = ({ org }: { readonly org: string }) => {
  // The dialog outlives the step that opened it, which is done as soon as the invoice is submitted.
  const [isSubmitting, setSubmitting] = useState(false)
  return (
    <>
      <Steps org={org} onSubmit={() => setSubmitting(true)} />
      {isSubmitting && (
        <Suspense fallback={null}>
          <SubmitDialog org={org} onClose={() => setSubmitting(false)} />
        </Suspense>
      )}
    </>
  )
}

export default Checklist
