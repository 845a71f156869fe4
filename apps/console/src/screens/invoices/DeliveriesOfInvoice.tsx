import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { deliveriesOfInvoiceQuery, endpointsQuery } from "../../api/queries.ts"
import { en } from "../../text/en.ts"
import { EmptyState } from "../../ui/EmptyState.tsx"
import { EventType } from "../../ui/EventType.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { StatusBadge } from "../../ui/StatusBadge.tsx"
import { Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { deliverySearch, noDeliveryFilter } from "../../url/searches.ts"
import { EndpointOf } from "../../ui/EndpointName.tsx"

/** The newest deliveries of the events of an invoice, with a link to all of them. */
export const DeliveriesOfInvoice = ({ invoice, org }: { readonly org: string; readonly invoice: string }) => {
  const deliveries = useQuery(deliveriesOfInvoiceQuery(org, invoice))
  const { data: endpoints } = useQuery(endpointsQuery(org))
  const list = `${paths.deliveries(org)}${deliverySearch.write({ ...noDeliveryFilter, invoice })}`
  return (
    <Panel
      flush
      title={en.invoice.deliveries}
      aside={
        <Link className="small" to={list}>
          {en.invoice.allDeliveries}
        </Link>
      }
    >
      <Loaded query={deliveries} skeleton={<Skeleton rows lines={3} />}>
        {({ data }) => (
          <Table
            caption={en.invoice.deliveries}
            rows={data}
            idOf={({ id }) => id}
            timeOf={({ createdAt }) => createdAt}
            addressOf={({ endpointId, id }) =>
              `${paths.delivery(org, endpointId, id)}${deliverySearch.write({ ...noDeliveryFilter, invoice })}`
            }
            empty={
              <EmptyState sentence={en.invoice.noDeliveries}>
                <Link to={paths.endpoints(org)}>{en.nav.endpoints}</Link>
              </EmptyState>
            }
            columns={[
              { head: en.list.status, cell: ({ status }) => <StatusBadge of="delivery" status={status} quiet /> },
              { head: en.delivery.event, cell: ({ eventType }) => <EventType type={eventType} /> },
              {
                head: en.endpoints.endpoint,
                cell: ({ endpointId }) => <EndpointOf id={endpointId} endpoints={endpoints} />
              },
              {
                head: en.delivery.answer,
                cell: ({ lastErrorSummary, lastHttpStatus }) => lastErrorSummary ?? lastHttpStatus
              },
              { head: en.created, cell: ({ createdAt }) => <Instant at={createdAt} /> }
            ]}
          />
        )}
      </Loaded>
    </Panel>
  )
}
