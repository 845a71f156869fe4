/**
 * The parts of an endpoint URL, and the faults that can be seen without asking the server. A URL is shown as text, never as
 * a link: it is not trusted.
 */
import type { WebhookEndpoint } from "@govoice/client"
import { texts } from "../text/texts.ts"

/** Returns the host, and the path if it is not the root. */
export const partsOf = (url: string): { readonly host: string; readonly path: string } => {
  if (!URL.canParse(url)) return { host: url, path: "" }
  const { host, pathname, search } = new URL(url)
  return { host, path: `${pathname === "/" && search === "" ? "" : pathname}${search}` }
}

/** Returns the name of an endpoint: its host and path. */
export const nameOf = ({ url }: Pick<WebhookEndpoint, "url">): string => {
  const { host, path } = partsOf(url)
  return `${host}${path}`
}

/** Returns the fault of a URL, or undefined if the server has to judge it. */
export const faultOf = (url: string): string | undefined => {
  if (!URL.canParse(url)) return texts.endpoints.faults.unreadable
  const { hash, password, protocol, username } = new URL(url)
  if (protocol !== "https:" && protocol !== "http:") return texts.endpoints.faults.scheme
  if (username !== "" || password !== "") return texts.endpoints.faults.userInfo
  return hash === "" ? undefined : texts.endpoints.faults.fragment
}

/** Returns whether a URL leads to the computer of the server itself, which only a server for trials may reach. */
export const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
