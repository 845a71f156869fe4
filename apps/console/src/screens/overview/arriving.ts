/**
 * Whether invoices arrive at KSeF: figures over the newest records of each list, since nothing counts them.
 */
import { type Invoice, listInvoices, type Page } from "@govoice/client"
import { queryOptions } from "@tanstack/react-query"
import { connection } from "../../api/connection.ts"
import { every, pollMs } from "../../api/polling.ts"
import { percentile } from "../endpoints/percentile.ts"

const dayMs = 24 * 3_600_000

/** The records that a list is read for. */
export const mostRead = 100

/** A count, which ends at {@link mostRead} for each list. */
interface Counted {
  readonly count: number
  readonly isCapped: boolean
}

const counted = (...pages: ReadonlyArray<Page<Invoice>>): Counted => ({
  count: pages.reduce((sum, { data }) => sum + data.length, 0),
  isCapped: pages.some(({ nextCursor }) => nextCursor !== null)
})

export const arrivingQuery = (org: string) =>
  queryOptions({
    queryKey: ["organizations", org, "arriving"],
    queryFn: async ({ signal }) => {
      const createdAfter = new Date(Date.now() - dayMs).toISOString()
      const list = (status: "accepted" | "queued" | "submitting" | "submitted", since?: string) =>
        listInvoices(connection, org, { status, limit: mostRead, createdAfter: since, signal }).page()
      const [accepted, ...open] = await Promise.all([
        list("accepted", createdAfter),
        list("queued"),
        list("submitting"),
        list("submitted")
      ])
      const times = accepted.data
        .flatMap(({ completedAt, createdAt }) =>
          completedAt === null ? [] : [Date.parse(completedAt) - Date.parse(createdAt)]
        )
        .sort((one, other) => one - other)
      return {
        accepted: counted(accepted),
        inProgress: counted(...open),
        median: times.length === 0 ? null : { ms: percentile(times, 0.5), of: times.length }
      }
    },
    refetchInterval: every(pollMs.picture)
  })
