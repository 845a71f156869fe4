import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { ProblemNotice } from "./Notice.tsx"
import { Skeleton } from "./Skeleton.tsx"

/** The states of a query: its skeleton, its error beside the data that is known, or its data. */
export const Loaded = <A,>({
  children,
  query,
  skeleton = <Skeleton />
}: {
  readonly query: UseQueryResult<A>
  readonly skeleton?: ReactNode
  readonly children: (data: A) => ReactNode
}) => {
  const { data, dataUpdatedAt, error, refetch } = query
  return (
    <>
      {error !== null && (
        <ProblemNotice
          error={error}
          asOf={data === undefined ? undefined : dataUpdatedAt}
          onRetry={() => void refetch()}
        />
      )}
      {data !== undefined ? children(data) : error === null && skeleton}
    </>
  )
}
