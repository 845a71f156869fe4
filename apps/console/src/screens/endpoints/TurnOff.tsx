import { updateWebhookEndpoint, type WebhookEndpoint } from "@govoice/client"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { connection } from "../../api/connection.ts"
import { endpointQuery, mostCounted, statsQuery } from "../../api/queries.ts"
import { texts } from "../../text/texts.ts"
import { toast } from "../../ui/Toasts.tsx"
import { TypedConfirmation } from "../../ui/TypedConfirmation.tsx"

/** Returns the number of deliveries that a step would end, once it is known, with a `+` where the server counted no further. */
export const useOnTheirWay = (endpoint: WebhookEndpoint): number | string | undefined => {
  const { data: stats } = useQuery(statsQuery(endpoint.id, "24h"))
  if (stats === undefined) return undefined
  const { retrying, waiting } = stats.now
  const counted = waiting + retrying
  return waiting >= mostCounted || retrying >= mostCounted ? `${counted}+` : counted
}

/** Turns an endpoint on or off, and tells it to the caches. */
export const useEnabled = (endpoint: WebhookEndpoint, onDone?: () => void) => {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (enabled: boolean) => updateWebhookEndpoint(connection, endpoint.id, { enabled }),
    onSuccess: async (changed) => {
      queryClient.setQueryData(endpointQuery(endpoint.id).queryKey, changed)
      onDone?.()
      toast(changed.enabled ? texts.endpoints.turnedOn : texts.endpoints.turnedOff)
      await queryClient.invalidateQueries({ queryKey: ["organizations", endpoint.organizationId] })
    }
  })
}

/** Asks before an endpoint is turned off: its deliveries end. */
export const TurnOff = ({
  endpoint,
  onClose
}: {
  readonly endpoint: WebhookEndpoint
  readonly onClose: () => void
}) => {
  const { error, isPending, mutate } = useEnabled(endpoint, onClose)
  const onTheirWay = useOnTheirWay(endpoint)
  return (
    <TypedConfirmation
      title={texts.endpoints.turnOffTitle}
      action={texts.endpoints.turnOff}
      isBusy={isPending}
      error={error}
      onCancel={onClose}
      onConfirm={() => mutate(false)}
    >
      <p>{texts.endpoints.turnOffMeaning(onTheirWay)}</p>
    </TypedConfirmation>
  )
}
