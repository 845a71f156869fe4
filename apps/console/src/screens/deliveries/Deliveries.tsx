import { useSearch } from "wouter"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { en } from "../../text/en.ts"
import { shorten } from "../../url/ids.ts"
import { paths } from "../../url/paths.ts"
import { deliverySearch } from "../../url/searches.ts"
import { DeliveryList } from "./DeliveryList.tsx"
import type { OpenDelivery } from "./DeliveryPanel.tsx"

/** The deliveries of the organization. */
export const Deliveries = ({ open }: { readonly open?: OpenDelivery }) => {
  const { id: org } = useCurrentOrganization()
  const { status } = deliverySearch.read(useSearch()).value
  return (
    <Screen
      title={status === undefined ? en.nav.deliveries : en.delivery.titleOf(en.status[status]!)}
      part={open && en.delivery.titleOfOne(shorten(open.delivery))}
      address={paths.deliveries(org)}
    >
      <DeliveryList open={open} />
    </Screen>
  )
}
