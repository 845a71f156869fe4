import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useLocation } from "wouter"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { EmptyState } from "../../ui/EmptyState.tsx"
import { firstFilter, focusSoon, heading } from "../../ui/focus.ts"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { Dropped } from "./Dropped.tsx"
import { ListHead } from "./ListHead.tsx"

/** The panel of a list: its head, the error and the loading state around its table. */
export const ListPanel = ({
  children,
  dropped,
  isFirstPage,
  onShow,
  query,
  title,
  waiting
}: {
  readonly title: string
  readonly query: Pick<UseQueryResult, "data" | "dataUpdatedAt" | "error" | "refetch">
  /** The number of new rows that are not shown yet. */
  readonly waiting: string | undefined
  readonly onShow: () => void
  readonly isFirstPage: boolean
  /** The parts of the address that could not be read. */
  readonly dropped: ReadonlyArray<string>
  readonly children: ReactNode
}) => (
  <>
    <Dropped names={dropped} />
    <Panel
      flush
      title={title}
      aside={<ListHead waiting={waiting} onShow={onShow} updatedAt={query.dataUpdatedAt} isFirstPage={isFirstPage} />}
    >
      {query.error !== null && (
        <ProblemNotice error={query.error} asOf={query.dataUpdatedAt} onRetry={() => void query.refetch()} />
      )}
      {query.data === undefined ? query.error === null && <Skeleton rows lines={10} /> : children}
    </Panel>
  </>
)

/** The empty state of a list: with filters, a way to remove them. */
export const EmptyList = ({
  action,
  clearTo,
  empty,
  emptyFiltered,
  isFiltered,
  snippet
}: {
  readonly isFiltered: boolean
  /** The step that adds the first record, and the code for it. */
  readonly action: ReactNode
  readonly snippet: ReactNode
  readonly empty: string
  readonly emptyFiltered: string
  /** The address without filters. */
  readonly clearTo: string
}) => {
  const [, navigate] = useLocation()
  return isFiltered ? (
    <EmptyState sentence={emptyFiltered}>
      <Button
        onClick={() => {
          navigate(clearTo)
          focusSoon(firstFilter, heading)
        }}
      >
        {texts.filters.clear}
      </Button>
    </EmptyState>
  ) : (
    <EmptyState sentence={empty} snippet={snippet}>
      {action}
    </EmptyState>
  )
}
