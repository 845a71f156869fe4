import type { DeliveryBucket } from "@govoice/client"
import { texts } from "../../text/texts.ts"
import type { Column } from "../../ui/Table.tsx"
import { number } from "../../ui/numbers.ts"
import { Instant } from "../../ui/Instant.tsx"

/** The columns of a table with the counts that bars show. */
export const bucketColumns: ReadonlyArray<Column<DeliveryBucket>> = [
  { head: texts.health.period, cell: ({ start }) => <Instant at={start} form="short" /> },
  {
    head: texts.health.deliveries,
    isNumber: true,
    cell: ({ capped, total }) => (capped ? `${number(total)}+` : number(total))
  },
  { head: texts.health.retryingNow, isNumber: true, cell: ({ retrying }) => retrying },
  { head: texts.health.failedHead, isNumber: true, cell: ({ failed }) => failed },
  { head: texts.health.disabled, isNumber: true, cell: ({ endpointDisabled }) => endpointDisabled }
]
