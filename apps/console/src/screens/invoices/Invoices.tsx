import type { Invoice } from "@govoice/client"
import { useQueries, useQuery } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import { useLocation, useSearch } from "wouter"
import { everyUnsettled, invoiceQuery, invoicesQuery, isUnsettled } from "../../api/queries.ts"
import { pollMs } from "../../api/polling.ts"
import { useSteadyRows } from "../../api/steadyRows.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { texts } from "../../text/texts.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Pager } from "../../ui/Pager.tsx"
import { ModeBadge, StatusBadge } from "../../ui/StatusBadge.tsx"
import { type Column, Table } from "../../ui/Table.tsx"
import { isId, shorten } from "../../url/ids.ts"
import { type InvoiceName, invoiceNames, namesOf } from "../../url/invoiceNames.ts"
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
import { SelectControl } from "../../ui/Field.tsx"
import { totalOf } from "./total.ts"

const css = classNames(styles)

const capitalized = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`

const rowsOfNone: ReadonlyArray<Invoice> = []

/** A text, and a less important one below it. Both are foreign. */
const TwoLines = ({ below, text }: { readonly text: string; readonly below: string | null }) => (
  <span className={css("lines")}>
    <span className={css("first")}>{text}</span>
    {below !== null && below !== text && <span className={css("below")}>{below}</span>}
  </span>
)

const columns: ReadonlyArray<Column<Invoice>> = [
  {
    head: texts.invoice.number,
    cell: ({ document, id, officialNumber }) => {
      const below = officialNumber ?? shorten(id)
      return <TwoLines text={document?.number ?? below} below={below} />
    }
  },
  {
    head: texts.invoice.buyer,
    cell: ({ document }) => {
      const { name = null, taxId = null } = document?.buyer ?? {}
      const text = name ?? taxId
      return text && <TwoLines text={text} below={taxId} />
    }
  },
  {
    head: texts.invoice.total,
    isNumber: true,
    cell: ({ document }) => (document?.total ? <span className={css("total")}>{totalOf(document)}</span> : null)
  },
  {
    head: texts.list.status,
    cell: ({ mode, status }) => <StatusBadge of="invoice" status={status} mode={mode} quiet />
  },
  { head: texts.mode.title, cell: ({ mode }) => <ModeBadge mode={mode} /> },
  { head: texts.created, leftOut: "narrow", cell: ({ createdAt }) => <Instant at={createdAt} /> }
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
  const [by, setBy] = useState<InvoiceName>("number")
  const find = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textOf(new FormData(event.currentTarget), "text").trim()
    if (text === "") return
    if (isId("inv", text)) return navigate(paths.invoice(org, text))
    const [likeliest] = namesOf(text)
    // No number of a seller looks like these.
    const isOther = by === "number" && (likeliest === "official" || likeliest === "metadata")
    event.currentTarget.reset()
    filter({ [isOther ? likeliest : by]: text })
  }
  return (
    <Screen
      title={search.status === undefined ? texts.nav.invoices : texts.invoice.titleOf[search.status]!}
      isLive={search.mode === "live"}
    >
      <div className="stack">
        <Filters>
          <ChoiceLinks
            label={texts.mode.title}
            choices={[
              {
                label: texts.list.all,
                to: address({ mode: undefined, key: undefined }),
                isCurrent: search.mode === undefined
              },
              { label: texts.mode.test, to: address({ mode: "test" }), isCurrent: search.mode === "test" },
              { label: texts.mode.live, to: address({ mode: "live" }), isCurrent: search.mode === "live" }
            ]}
          />
          <FilterSelect
            label={texts.list.status}
            all={texts.filters.allStatuses}
            value={search.status}
            options={knownInvoiceStatuses.map((status) => [status, texts.status.invoice[status]!])}
            onChange={(status) => filter({ status: status as InvoiceSearch["status"] })}
          />
          <TimeFilter range={search} onChange={filter} />
          <form className={css("find")} onSubmit={find} role="search">
            <SelectControl
              aria-label={texts.invoice.findBy}
              value={by}
              onChange={(event) => setBy(event.target.value as InvoiceName)}
            >
              {invoiceNames.map((name) => (
                <option key={name} value={name}>
                  {capitalized(texts.invoice.names[name])}
                </option>
              ))}
            </SelectControl>
            <input
              className={css("text")}
              name="text"
              aria-label={capitalized(texts.invoice.names[by])}
              placeholder={texts.invoice.placeholders[by]}
              maxLength={1000}
              autoComplete="off"
              spellCheck={false}
            />
            <Button type="submit" icon="search" aria-label={texts.invoice.find} title={texts.invoice.find} />
          </form>
          {invoiceNames.map(
            (name) =>
              search[name] !== undefined && (
                <FilterChip
                  key={name}
                  label={`${capitalized(texts.invoice.names[name])}: ${search[name]}`}
                  onRemove={() => filter({ [name]: undefined })}
                />
              )
          )}
        </Filters>
        <ListPanel
          title={texts.invoice.list}
          query={invoices}
          waiting={waiting}
          onShow={show}
          isFirstPage={search.cursor === undefined}
          dropped={dropped}
        >
          <Table
            caption={texts.invoice.list}
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            timeOf={({ createdAt }) => createdAt}
            addressOf={({ id }) => paths.invoice(org, id)}
            empty={
              <EmptyList
                isFiltered={isFiltered}
                empty={texts.invoice.empty}
                emptyFiltered={texts.invoice.emptyFiltered}
                action={<ButtonLink to={paths.newKey(org)}>{texts.apiKeys.create}</ButtonLink>}
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
