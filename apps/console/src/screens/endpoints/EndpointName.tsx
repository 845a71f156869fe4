import { classNames } from "../../ui/classNames.ts"
import { partsOf } from "./endpointUrl.ts"
import styles from "./EndpointName.module.css"

const css = classNames(styles)

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
