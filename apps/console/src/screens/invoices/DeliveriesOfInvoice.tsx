import type { WebhookDelivery } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { deliveriesOfInvoiceQuery, endpointsQuery } from "../../api/queries.ts"
import { texts } from "../../text/texts.ts"
import { EmptyState } from "../../ui/EmptyState.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { StatusBadge } from "../../ui/StatusBadge.tsx"
import { Table } from "../../ui/Table.tsx"
import { paths } from "../../url/paths.ts"
import { deliverySearch, noDeliveryFilter } from "../../url/searches.ts"
import { EndpointOf } from "../../ui/EndpointName.tsx"
import { outcomeOf } from "../deliveries/whatToDo.ts"

/** Events in the order of time. The deliveries of one event stand together: their order is that of their endpoints. */
const inOrder = (deliveries: ReadonlyArray<WebhookDelivery>): ReadonlyArray<WebhookDelivery> =>
  deliveries.toSorted((one, other) =>
    one.eventId === other.eventId ? (one.endpointId < other.endpointId ? -1 : 1) : one.eventId < other.eventId ? -1 : 1
  )

/** The newest deliveries of an invoice by event, with a link to all of them. */
export const DeliveriesOfInvoice = ({ invoice, org }: { readonly org: string; readonly invoice: string }) => {
  const deliveries = useQuery(deliveriesOfInvoiceQuery(org, invoice))
  const { data: endpoints } = useQuery(endpointsQuery(org))
  const list = `${paths.deliveries(org)}${deliverySearch.write({ ...noDeliveryFilter, invoice })}`
  return (
    <Panel
      flush
      title={texts.invoice.deliveries}
      aside={
        <Link className="small" to={list}>
          {texts.viewAll}
        </Link>
      }
    >
      <Loaded query={deliveries} skeleton={<Skeleton rows lines={3} />}>
        {({ data }) => (
          <Table
            caption={texts.invoice.deliveries}
            rows={inOrder(data)}
            groupOf={({ eventType }) => eventType}
            idOf={({ id }) => id}
            timeOf={({ createdAt }) => createdAt}
            addressOf={({ endpointId, id }) =>
              `${paths.delivery(org, endpointId, id)}${deliverySearch.write({ ...noDeliveryFilter, invoice })}`
            }
            empty={
              <EmptyState sentence={texts.invoice.noDeliveries}>
                <Link to={paths.endpoints(org)}>{texts.nav.endpoints}</Link>
              </EmptyState>
            }
            columns={[
              { head: texts.list.status, cell: ({ status }) => <StatusBadge of="delivery" status={status} quiet /> },
              {
                head: texts.endpoints.endpoint,
                cell: ({ endpointId }) => <EndpointOf id={endpointId} endpoints={endpoints} />
              },
              { head: texts.delivery.response, cell: outcomeOf },
              { head: texts.created, cell: ({ createdAt }) => <Instant at={createdAt} /> }
            ]}
          />
        )}
      </Loaded>
    </Panel>
  )
}
