import type { LiveStatus } from "@govoice/client"
import { Link } from "wouter"
import { texts } from "../../text/texts.ts"
import { Instant } from "../../ui/Instant.tsx"
import { count, number } from "../../ui/numbers.ts"
import { Panel } from "../../ui/Panel.tsx"
import { Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { invoiceSearch } from "../../url/searches.ts"
import { Sum } from "../overview/Sum.tsx"

type Group = LiveStatus["waiting"]

const Count = ({ group }: { readonly group: Group }) => (
  <>
    {count(group.count)}
    {group.oldestAt !== null && (
      <span className="small muted">
        {" "}
        {texts.live.oldest} <Instant at={group.oldestAt} />
      </span>
    )}
    {group.failure !== null && (
      <p className="small">
        <code>{group.failure.code}</code> {group.failure.message}
      </p>
    )}
  </>
)

const Limits = ({ limits }: Pick<LiveStatus, "limits">) => (
  <Panel title={texts.live.limits} flush>
    <Table
      caption={texts.live.limits}
      rows={limits}
      idOf={({ group }) => group}
      empty={<p className="muted">{texts.live.noLimits}</p>}
      columns={[
        { head: texts.live.group, cell: ({ group }) => <code>{group}</code> },
        { head: texts.live.used, isNumber: true, cell: ({ used }) => number(used) },
        {
          head: texts.live.perHour,
          isNumber: true,
          cell: ({ perHour }) => (perHour === null ? texts.live.unlimited : number(perHour))
        },
        {
          head: texts.live.blocked,
          cell: ({ blockedUntil }) => (blockedUntil === null ? "–" : <Instant at={blockedUntil} />)
        }
      ]}
    />
  </Panel>
)

/** Live invoices without a verdict, here and at the national system, and how much of its limits is used. */
export const Progress = ({ status }: { readonly status: LiveStatus }) => {
  const to = (status: "queued" | "retrying" | "submitted") =>
    `${paths.invoices(organizationId)}${invoiceSearch.write({ ...invoiceSearch.read("").value, status, mode: "live" })}`
  const { limits, organizationId, undecided, waiting } = status
  return (
    <>
      <Panel title={texts.live.waiting}>
        <p className="muted">{texts.live.waitingMeaning}</p>
        <Sum
          entries={[
            { label: texts.live.waitingHere, value: <Count group={waiting} />, to: to("queued") },
            { label: texts.live.undecided, value: <Count group={undecided} />, to: to("submitted") }
          ]}
        />
        <p className="small muted">
          {texts.live.showWaiting} <Link to={to("queued")}>{texts.live.waitingQueued}</Link>,{" "}
          <Link to={to("retrying")}>{texts.live.waitingRetrying}</Link>
        </p>
      </Panel>
      <Limits limits={limits} />
    </>
  )
}
