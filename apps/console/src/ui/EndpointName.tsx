import type { WebhookEndpoint } from "@govoice/client"
import { classNames } from "./classNames.ts"
import { shorten } from "../url/ids.ts"
import { partsOf, sharesHost } from "../url/endpointUrl.ts"
import styles from "./EndpointName.module.css"

const css = classNames(styles)

/** The name of an endpoint of a record: its host, with the path if another endpoint has the same host. */
export const EndpointOf = ({
  endpoints = [],
  id
}: {
  readonly id: string
  readonly endpoints: ReadonlyArray<WebhookEndpoint> | undefined
}) => {
  const found = endpoints.find((endpoint) => endpoint.id === id)
  if (found === undefined) return <code>{shorten(id)}</code>
  return <EndpointName url={found.url} hostOnly={!sharesHost(found, endpoints)} />
}

/** The host of an endpoint and, muted, its path. Text, never a link. */
export const EndpointName = ({ hostOnly = false, url }: { readonly url: string; readonly hostOnly?: boolean }) => {
  const { host, path } = partsOf(url)
  return (
    <span className={css("name")} title={url}>
      <span className={css("host")}>{host}</span>
      {!hostOnly && <span className={css("path")}>{path}</span>}
    </span>
  )
}
