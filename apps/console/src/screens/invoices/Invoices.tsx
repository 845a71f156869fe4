import type { Invoice } from "@govoice/client"
import { useQueries, useQuery } from "@tanstack/react-query"
import { type FormEvent } from "react"
import { useLocation, useSearch } from "wouter"
import { everyUnsettled, invoiceQuery, invoicesQuery, isUnsettled } from "../../api/queries.ts"
import { pollMs } from "../../api/live.ts"
import { useSteadyRows } from "../../api/steadyRows.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { en } from "../../text/en.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Pager } from "../../ui/Pager.tsx"
import { ModeBadge, StatusBadge } from "../../ui/StatusBadge.tsx"
import { type Column, Table } from "../../ui/Table.tsx"
import { shorten } from "../../url/ids.ts"
import { paths } from "../../url/paths.ts"
import { type InvoiceSearch, invoiceSearch } from "../../url/searches.ts"
import { ChoiceLinks, FilterChip, Filters, TimeFilter } from "../lists/Filters.tsx"
import { SubmissionSnippet } from "../../ui/SubmissionSnippet.tsx"
import { EmptyList, ListPanel } from "../lists/ListPanel.tsx"
import { usePages } from "../lists/usePages.ts"
import { FilterSelect } from "../lists/Filters.tsx"
import { knownInvoiceStatuses } from "../../url/searches.ts"
import styles from "./Invoices.module.css"
import { classNames } from "../../ui/classNames.ts"
import { textOf } from "../../ui/form.ts"

const css = classNames(styles)

const rowsOfNone: ReadonlyArray<Invoice> = []

/** The first two pairs of the metadata. It is foreign text. */
const Metadata = ({ metadata }: Pick<Invoice, "metadata">) => {
  const pairs = Object.entries(metadata)
  return (
    <span className="foreign muted">
      {pairs
        .slice(0, 2)
        .map(([name, value]) => `${name} = ${value}`)
        .join(", ")}
      {pairs.length > 2 && " …"}
    </span>
  )
}

const columns: ReadonlyArray<Column<Invoice>> = [
  { head: en.list.status, cell: ({ status }) => <StatusBadge of="invoice" status={status} quiet /> },
  {
    head: en.invoice.number,
    cell: ({ id, officialNumber }) => <code>{officialNumber ?? shorten(id)}</code>
  },
  { head: en.mode.title, cell: ({ mode }) => <ModeBadge mode={mode} /> },
  { head: en.invoice.scenario, leftOut: "narrow", cell: ({ scenario }) => <span className="muted">{scenario}</span> },
  { head: en.invoice.metadata, leftOut: "narrow", cell: ({ metadata }) => <Metadata metadata={metadata} /> },
  { head: en.created, cell: ({ createdAt }) => <Instant at={createdAt} /> }
]

const Invoices = () => {
  const { id: org } = useCurrentOrganization()
  const [, navigate] = useLocation()
  const { dropped, value: search } = invoiceSearch.read(useSearch())
  const invoices = useQuery(invoicesQuery(org, search))
  const page = invoices.data
  const { rows, show, waiting } = useSteadyRows(
    JSON.stringify(search),
    page?.data ?? rowsOfNone,
    invoices.dataUpdatedAt,
    invoices.isPlaceholderData,
    isUnsettled,
    (rows) =>
      useQueries({
        queries: rows.map(({ id }) => ({ ...invoiceQuery(org, id), refetchInterval: everyUnsettled(pollMs.list) }))
      })
  )
  const path = paths.invoices(org)
  const address = (change: Partial<InvoiceSearch>) =>
    `${path}${invoiceSearch.write({ ...search, cursor: undefined, ...change })}`
  const filter = (change: Partial<InvoiceSearch>) => navigate(address(change))
  const pages = usePages(
    search.cursor,
    // The page before leads to this one.
    invoices.isPlaceholderData ? undefined : page?.nextCursor,
    (cursor) => address({ cursor })
  )
  const isFiltered = invoiceSearch.write({ ...search, cursor: undefined }) !== ""
  const find = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const key = textOf(new FormData(event.currentTarget), "key").trim()
    filter({ key: key === "" ? undefined : key })
  }
  return (
    <Screen
      title={search.status === undefined ? en.nav.invoices : en.invoice.titleOf(en.status[search.status]!)}
      isLive={search.mode === "live"}
    >
      <div className="stack">
        <Filters>
          <ChoiceLinks
            label={en.mode.title}
            choices={[
              {
                label: en.list.all,
                to: address({ mode: undefined, key: undefined }),
                isCurrent: search.mode === undefined
              },
              { label: en.mode.test, to: address({ mode: "test" }), isCurrent: search.mode === "test" },
              { label: en.mode.live, to: address({ mode: "live" }), isCurrent: search.mode === "live" }
            ]}
          />
          <FilterSelect
            label={en.list.status}
            all={en.filters.allStatuses}
            value={search.status}
            options={knownInvoiceStatuses.map((status) => [status, en.status[status]!])}
            onChange={(status) => filter({ status: status as InvoiceSearch["status"] })}
          />
          <TimeFilter range={search} onChange={filter} />
          {search.key === undefined ? (
            <form className={css("find")} onSubmit={find} role="search">
              <input
                className={css("key")}
                name="key"
                aria-label={en.invoice.idempotencyKey}
                placeholder={en.invoice.idempotencyKey}
                maxLength={255}
                autoComplete="off"
                spellCheck={false}
              />
              <Button type="submit" icon="search" aria-label={en.invoice.find} title={en.invoice.find} />
            </form>
          ) : (
            <FilterChip
              label={`${en.invoice.idempotencyKey}: ${search.key}`}
              onRemove={() => filter({ key: undefined })}
            />
          )}
        </Filters>
        <ListPanel
          title={en.invoice.list}
          query={invoices}
          waiting={waiting}
          onShow={show}
          isFirstPage={search.cursor === undefined}
          dropped={dropped}
        >
          <Table
            caption={en.invoice.list}
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            timeOf={({ createdAt }) => createdAt}
            addressOf={({ id }) => paths.invoice(org, id)}
            empty={
              <EmptyList
                isFiltered={isFiltered}
                empty={en.invoice.empty}
                emptyFiltered={en.invoice.emptyFiltered}
                action={<ButtonLink to={paths.newKey(org)}>{en.apiKeys.create}</ButtonLink>}
                snippet={<SubmissionSnippet />}
                clearTo={path}
              />
            }
          />
        </ListPanel>
        <Pager {...pages} />
      </div>
    </Screen>
  )
}

export default Invoices
