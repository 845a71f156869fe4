import {
  getDelivery,
  getOrganizationInvoice,
  getWebhookEndpoint,
  isApiError,
  listApiKeys,
  listInvoices,
  listOrganizations,
  listWebhookEndpoints
} from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { Redirect } from "wouter"
import { connection } from "../../api/connection.ts"
import { Screen } from "../../ui/Screen.tsx"
import { texts } from "../../text/texts.ts"
import { ButtonLink } from "../../ui/Button.tsx"
import { EmptyState } from "../../ui/EmptyState.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { kindOf } from "../../url/ids.ts"
import { paths } from "../../url/paths.ts"
import { deliverySearch, noDeliveryFilter } from "../../url/searches.ts"

/** Returns undefined for a record that does not exist, and rejects for other errors. */
const found = <A,>(promise: Promise<A>): Promise<A | undefined> =>
  promise.catch((error: unknown) => {
    if (isApiError(error) && error.status === 404) return undefined
    throw error
  })

const firstOf = async <A,>(tasks: ReadonlyArray<Promise<A | undefined>>): Promise<A | undefined> =>
  (await Promise.all(tasks)).find((result) => result !== undefined)

/** Returns the address of the record with this identifier, in any organization of the account. */
const addressOf = async (id: string, signal: AbortSignal): Promise<string | null> => {
  const kind = kindOf(id)
  if (kind === undefined) return null
  if (kind === "org") return paths.overview(id)
  if (kind === "we") {
    const endpoint = await found(getWebhookEndpoint(connection, id, { signal }))
    return endpoint === undefined ? null : paths.endpoint(endpoint.organizationId, id)
  }
  const { data: organizations } = await listOrganizations(connection, { limit: 100, signal }).page()
  const addresses = organizations.map(async ({ id: org }): Promise<string | undefined> => {
    if (kind === "inv") {
      const invoice = await found(getOrganizationInvoice(connection, org, id, { signal }))
      return invoice && paths.invoice(org, id)
    }
    if (kind === "key") {
      const { data } = await listApiKeys(connection, org, { limit: 100, signal }).page()
      return data.some((key) => key.id === id) ? paths.keys(org) : undefined
    }
    if (kind === "evt") {
      const { data } = await listInvoices(connection, org, { eventId: id, limit: 1, signal }).page()
      return data.length === 0
        ? undefined
        : `${paths.deliveries(org)}${deliverySearch.write({ ...noDeliveryFilter, event: id })}`
    }
    const { data: endpoints } = await listWebhookEndpoints(connection, org, { limit: 100, signal }).page()
    return firstOf(
      endpoints.map(async (endpoint) => {
        const delivery = await found(getDelivery(connection, endpoint.id, id, { signal }))
        return delivery && paths.delivery(org, endpoint.id, id)
      })
    )
  })
  return (await firstOf(addresses)) ?? null
}

/** Takes an identifier of any kind to its page. */
const Go = ({ id }: { readonly id: string }) => {
  const address = useQuery({
    queryKey: ["go", id],
    queryFn: ({ signal }) => addressOf(id, signal)
  })
  return (
    <Screen title={texts.go.title}>
      <Loaded query={address}>
        {(to) =>
          to === null ? (
            <EmptyState sentence={texts.go.none(id)}>
              <ButtonLink to={paths.home}>{texts.notFound.home}</ButtonLink>
            </EmptyState>
          ) : (
            <Redirect to={to} replace />
          )
        }
      </Loaded>
    </Screen>
  )
}

export default Go
