import type { DeliveryBucket } from "@govoice/client"
import { en } from "../../text/en.ts"
import type { Column } from "../../ui/Table.tsx"
import { Instant } from "../../ui/Instant.tsx"

/** The columns of a table with the counts that bars show. */
export const bucketColumns: ReadonlyArray<Column<DeliveryBucket>> = [
  { head: en.health.period, cell: ({ start }) => <Instant at={start} form="short" /> },
  { head: en.health.deliveries, isNumber: true, cell: ({ capped, total }) => (capped ? `${total}+` : total) },
  { head: en.health.retryingNow, isNumber: true, cell: ({ retrying }) => retrying },
  { head: en.health.failedHead, isNumber: true, cell: ({ failed }) => failed },
  { head: en.health.disabled, isNumber: true, cell: ({ endpointDisabled }) => endpointDisabled }
]
