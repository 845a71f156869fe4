/** The target of a request, read before routing: a path with one interpretation, or nothing. */
import type { HttpServerRequest } from "effect/http"
import type { IncomingMessage } from "node:http"

/** A readable target. */
export interface Target {
  /** The path as it came, without query and fragment. */
  readonly path: string
  /** The path, decoded. */
  readonly plainPath: string
  /** Whether it is a path of the API, which can be disabled. */
  readonly isApi: boolean
  /** Whether it is a path of the console, which can be disabled. */
  readonly isConsole: boolean
  /** Whether it is a path of the console that needs the API. */
  readonly isConsoleSession: boolean
  /** The request for the router. */
  readonly request: HttpServerRequest.HttpServerRequest
}

const pathOf = (url: string): string => {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

const decoded = (path: string): string | undefined => {
  if (!path.includes("%")) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

// HTTP/1.1 requires exactly one Host (RFC 9112 §3.2). Node joins several with a comma, which no host contains.
const isAddressed = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean => {
  const { host } = headers
  return host === undefined ? (source as Partial<IncomingMessage>).httpVersion === "1.0" : !host.includes(",")
}

// The router reads a semicolon as the beginning of a query. RFC 3986 makes it a character of the path.
const routable = (request: HttpServerRequest.HttpServerRequest, path: string): HttpServerRequest.HttpServerRequest =>
  path.includes(";") ? request.modify({ url: path.replaceAll(";", "%3B") + request.url.slice(path.length) }) : request

/** Returns the target of a request, or `undefined` if it is unreadable. */
export const read = (request: HttpServerRequest.HttpServerRequest): Target | undefined => {
  const path = pathOf(request.url)
  const plain = decoded(path)
  if (plain === undefined || !isAddressed(request)) return undefined
  return {
    path,
    plainPath: plain,
    isApi: /^\/v1(?:\/|$)/.test(plain),
    isConsole: /^\/console(?:\/|$)/.test(plain),
    isConsoleSession: /^\/console\/session(?:\/|$)/.test(plain),
    request: routable(request, path)
  }
}
