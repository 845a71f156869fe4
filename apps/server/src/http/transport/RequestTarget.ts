/**
 * What a request asks for, before any route is looked up: a path that everybody reads the same way, or nothing readable.
 */
import type { HttpServerRequest } from "effect/http"
import type { IncomingMessage } from "node:http"

/** A target that can be read. */
export interface Target {
  /** The path as it came, without query and fragment. */
  readonly path: string
  /** Whether it leads into the API, which can be disabled. */
  readonly isApi: boolean
  /** The request as routes should see it. */
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

// HTTP/1.1 wants exactly one Host (RFC 9112 §3.2). Node joins several with a comma, which no host has in it.
const isAddressed = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean => {
  const { host } = headers
  return host === undefined ? (source as Partial<IncomingMessage>).httpVersion === "1.0" : !host.includes(",")
}

// The router takes a semicolon for the beginning of a query. To everybody else it is a character of the path.
const routable = (request: HttpServerRequest.HttpServerRequest, path: string): HttpServerRequest.HttpServerRequest =>
  path.includes(";") ? request.modify({ url: path.replaceAll(";", "%3B") + request.url.slice(path.length) }) : request

/** Reads the target of a request: `undefined` where it cannot be read. */
export const read = (request: HttpServerRequest.HttpServerRequest): Target | undefined => {
  const path = pathOf(request.url)
  const plain = decoded(path)
  if (plain === undefined || !isAddressed(request)) return undefined
  return { path, isApi: /^\/v1(?:\/|$)/.test(plain), request: routable(request, path) }
}
