import type { WebhookEndpoint } from "@govoice/client"
import { classNames } from "./classNames.ts"
import { shorten } from "../url/ids.ts"
import { partsOf } from "../url/endpointUrl.ts"
import styles from "./EndpointName.module.css"

const css = classNames(styles)

/** The name of the endpoint of a record. */
export const EndpointOf = ({
  endpoints = [],
  id
}: {
  readonly id: string
  readonly endpoints: ReadonlyArray<WebhookEndpoint> | undefined
}) => {
  const found = endpoints.find((endpoint) => endpoint.id === id)
  return found === undefined ? <code>{shorten(id)}</code> : <EndpointName url={found.url} />
}

/** The host of an endpoint and, muted, its path: the same in every table. Text, never a link. */
export const EndpointName = ({ url }: { readonly url: string }) => {
  const { host, path } = partsOf(url)
  return (
    <span className={css("name")} title={url}>
      <span className={css("host")}>{host}</span>
      <span className={css("path")}>{path}</span>
    </span>
  )
}
