import type { LiveStatus } from "@govoice/client"
import { Link } from "wouter"
import { en } from "../../text/en.ts"
import { Instant } from "../../ui/Instant.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { invoiceSearch } from "../../url/searches.ts"
import { Sum } from "../overview/Sum.tsx"

type Group = LiveStatus["waiting"]

const Count = ({ group }: { readonly group: Group }) => (
  <>
    {group.count >= 1000 ? "1000+" : group.count}
    {group.oldestAt !== null && (
      <span className="small muted">
        {" "}
        {en.live.oldest} <Instant at={group.oldestAt} />
      </span>
    )}
  </>
)

const Limits = ({ limits }: Pick<LiveStatus, "limits">) => (
  <Panel title={en.live.limits} flush>
    <Table
      caption={en.live.limits}
      rows={limits}
      idOf={({ group }) => group}
      empty={<p className="muted">{en.live.noLimits}</p>}
      columns={[
        { head: en.live.group, cell: ({ group }) => <code>{group}</code> },
        { head: en.live.used, isNumber: true, cell: ({ used }) => used },
        { head: en.live.perHour, isNumber: true, cell: ({ perHour }) => perHour ?? en.live.unlimited },
        {
          head: en.live.blocked,
          cell: ({ blockedUntil }) => blockedUntil !== null && <Instant at={blockedUntil} />
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
      <Panel title={en.live.waiting}>
        <p className="muted">{en.live.waitingMeaning}</p>
        <Sum
          entries={[
            [en.live.waitingHere, <Count key="waiting" group={waiting} />, to("queued")],
            [en.live.undecided, <Count key="undecided" group={undecided} />, to("submitted")]
          ]}
        />
        <p className="small muted">
          {en.live.showWaiting} <Link to={to("queued")}>{en.live.waitingQueued}</Link>,{" "}
          <Link to={to("retrying")}>{en.live.waitingRetrying}</Link>
        </p>
      </Panel>
      <Limits limits={limits} />
    </>
  )
}
