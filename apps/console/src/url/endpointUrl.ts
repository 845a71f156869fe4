/**
 * The parts of an endpoint URL, and the faults that can be seen without asking the server. A URL is shown as text, never as
 * a link: it is not trusted.
 */
import type { WebhookEndpoint } from "@govoice/client"
import { en } from "../text/en.ts"

/** Returns the host, and the path if it is not the root. */
export const partsOf = (url: string): { readonly host: string; readonly path: string } => {
  if (!URL.canParse(url)) return { host: url, path: "" }
  const { host, pathname, search } = new URL(url)
  return { host, path: `${pathname === "/" && search === "" ? "" : pathname}${search}` }
}

/** Returns whether another of the endpoints has the same host. */
export const sharesHost = ({ id, url }: WebhookEndpoint, endpoints: ReadonlyArray<WebhookEndpoint>): boolean =>
  endpoints.some((other) => other.id !== id && partsOf(other.url).host === partsOf(url).host)

/** Returns the host of an endpoint, with the path if another has the same host. */
export const nameOf = (endpoint: WebhookEndpoint, endpoints: ReadonlyArray<WebhookEndpoint>): string => {
  const { host, path } = partsOf(endpoint.url)
  return sharesHost(endpoint, endpoints) ? `${host}${path}` : host
}

/** Returns the fault of a URL, or undefined if the server has to judge it. */
export const faultOf = (url: string): string | undefined => {
  if (!URL.canParse(url)) return en.endpoints.faults.unreadable
  const { hash, password, protocol, username } = new URL(url)
  if (protocol !== "https:" && protocol !== "http:") return en.endpoints.faults.scheme
  if (username !== "" || password !== "") return en.endpoints.faults.userInfo
  return hash === "" ? undefined : en.endpoints.faults.fragment
}

/** Returns whether a URL leads to the computer of the server itself, which only a server for trials may reach. */
export const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
