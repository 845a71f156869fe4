/** Tells whether a request comes from a page of the server itself, as browsers report it. */

type RequestHeaders = Readonly<Record<string, string | undefined>>

const parse = (url: string): URL | undefined => (URL.canParse(url) ? new URL(url) : undefined)

// The scheme that a client used is not known behind a proxy, so the hosts are compared, each without the default port.
const isHostOf = (origin: string, host: string): boolean => {
  const from = parse(origin)
  return from !== undefined && from.host !== "" && from.host === parse(`${from.protocol}//${host}`)?.host
}

/** Whether `Sec-Fetch-Site` says so, or, where a browser does not send it, `Origin` has the host of the request. */
export const isSameOrigin = (headers: RequestHeaders): boolean => {
  const { host, origin, "sec-fetch-site": site } = headers
  if (site !== undefined) return site === "same-origin"
  return origin !== undefined && host !== undefined && isHostOf(origin, host)
}
