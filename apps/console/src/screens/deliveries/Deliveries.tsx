import { useSearch } from "wouter"
import { Screen } from "../../ui/Screen.tsx"
import { texts } from "../../text/texts.ts"
import { deliverySearch } from "../../url/searches.ts"
import { DeliveryList } from "./DeliveryList.tsx"

/** The deliveries of the organization. */
const Deliveries = () => {
  const { status } = deliverySearch.read(useSearch()).value
  return (
    <Screen title={status === undefined ? texts.nav.deliveries : texts.delivery.titleOf[status]!}>
      <DeliveryList />
    </Screen>
  )
}

export default Deliveries
