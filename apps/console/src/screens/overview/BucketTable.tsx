import type { DeliveryBucket, OrganizationOverview as Counts, WebhookEndpoint } from "@govoice/client"
import { texts } from "../../text/texts.ts"
import { classNames } from "../../ui/classNames.ts"
import { EndpointName } from "../../ui/EndpointName.tsx"
import { Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { healthSearch } from "../../url/searches.ts"
import { bucketColumns } from "../endpoints/bucketColumns.tsx"
import styles from "./BucketTable.module.css"

const css = classNames(styles)

interface Row extends DeliveryBucket {
  readonly endpoint: WebhookEndpoint
}

/** The rows of a table that is not paged. */
const mostRows = 100

/** The counts of the bars of all endpoints, the newest interval first. */
const BucketTable = ({
  counts,
  endpoints,
  org
}: {
  readonly org: string
  readonly endpoints: ReadonlyArray<WebhookEndpoint>
  readonly counts: Counts
}) => {
  const rows = endpoints
    .flatMap((endpoint): ReadonlyArray<Row> => {
      const found = counts.endpoints.find(({ endpointId }) => endpointId === endpoint.id)
      return (found?.buckets ?? []).filter(({ total }) => total > 0).map((bucket) => ({ ...bucket, endpoint }))
    })
    .toSorted((one, other) => Date.parse(other.start) - Date.parse(one.start))
  return (
    <>
      <Table
        caption={texts.health.caption(counts.window)}
        rows={rows.slice(0, mostRows)}
        idOf={({ endpoint, start }) => `${endpoint.id} ${start}`}
        copyOf={({ endpoint }) => endpoint.id}
        timeOf={({ start }) => start}
        addressOf={({ endpoint }) =>
          `${paths.endpoint(org, endpoint.id)}${healthSearch.write({ window: counts.window === "7d" ? "7d" : "24h", as: "table" })}`
        }
        empty={texts.health.empty}
        columns={[
          { head: texts.endpoints.endpoint, cell: ({ endpoint }) => <EndpointName url={endpoint.url} /> },
          ...bucketColumns
        ]}
      />
      {rows.length > mostRows && <p className={`small muted ${css("note")}`}>{texts.overview.mostRows(mostRows)}</p>}
    </>
  )
}

export default BucketTable
