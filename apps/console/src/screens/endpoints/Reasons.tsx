import type { WebhookDelivery, WebhookEndpoint } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { deliveriesQuery } from "../../api/queries.ts"
import { texts } from "../../text/texts.ts"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { noDeliveryFilter } from "../../url/searches.ts"
import { adviceFor, outcomeOf } from "../deliveries/whatToDo.ts"
import styles from "./Health.module.css"
import { classNames } from "../../ui/classNames.ts"

const css = classNames(styles)

interface Reason {
  readonly outcome: string
  readonly newest: WebhookDelivery
  readonly count: number
}

/** Groups deliveries by the outcome of their last attempt, the most frequent first. */
const reasonsOf = (deliveries: ReadonlyArray<WebhookDelivery>): ReadonlyArray<Reason> => {
  const failures = deliveries.filter(({ lastErrorSummary }) => lastErrorSummary !== null)
  return [...Map.groupBy(failures, outcomeOf)]
    .map(([outcome, group]) => ({
      outcome,
      newest: group.reduce((one, other) => (other.id > one.id ? other : one)),
      count: group.length
    }))
    .toSorted((one, other) => other.count - one.count)
}

/** Why the newest deliveries of an endpoint fail, and what to do about each reason. A reason leads to its newest delivery. */
export const Reasons = ({ endpoint: { id, organizationId: org } }: { readonly endpoint: WebhookEndpoint }) => {
  const failed = useQuery(deliveriesQuery(org, { ...noDeliveryFilter, endpoint: id, status: "failed" }))
  const retrying = useQuery(deliveriesQuery(org, { ...noDeliveryFilter, endpoint: id, status: "retrying" }))
  return (
    <Panel title={texts.health.reasons} flush>
      <Loaded query={failed} skeleton={<Skeleton rows lines={2} />}>
        {({ data: ended }) => (
          <Loaded query={retrying} skeleton={<Skeleton rows lines={2} />}>
            {({ data: underway }) => (
              <>
                <Table
                  caption={texts.health.reasons}
                  rows={reasonsOf([...ended, ...underway])}
                  idOf={({ outcome }) => outcome}
                  copyOf={({ newest }) => newest.id}
                  timeOf={({ newest }) => newest.createdAt}
                  addressOf={({ newest }) => paths.delivery(org, id, newest.id)}
                  empty={texts.health.noReasons}
                  columns={[
                    { head: texts.health.reason, cell: ({ outcome }) => <span className="strong">{outcome}</span> },
                    { head: texts.delivery.whatToDo, cell: ({ newest }) => texts.advice[adviceFor(newest)] },
                    { head: texts.health.deliveries, isNumber: true, cell: ({ count }) => count },
                    {
                      head: texts.health.newest,
                      cell: ({ newest }) => (
                        <span className="nowrap">
                          <Instant at={newest.createdAt} />
                        </span>
                      )
                    }
                  ]}
                />
                {ended.length + underway.length > 0 && (
                  <p className={`small muted ${css("foot")}`}>
                    {texts.health.reasonsNote(ended.length + underway.length)}
                  </p>
                )}
              </>
            )}
          </Loaded>
        )}
      </Loaded>
    </Panel>
  )
}
