/** Validates a request, and rejects headers that could change its framing or its receiver. */
import { DispatcherError } from "../DispatcherError.ts"
import type { DispatchRequest } from "../Request.ts"

export interface Prepared {
  /** Not parsed yet: a URL that cannot be read makes the outcome `Blocked`. */
  readonly url: unknown
  readonly method: string
  readonly headers: Array<string>
  readonly body: Uint8Array
  readonly deadlineMs: number
}

const methods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE", "GET"])

const members: ReadonlySet<string> = new Set(["url", "body", "headers", "method", "deadlineMs"])

/** Headers of the connection and of the framing (RFC 9110 §7.6.1, RFC 9112 §6), and `Host`. */
const reserved: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const value = /^[\t\x20-\x7e\x80-\xff]*$/

/** The longest delay that a timer of Node can have. */
const maxDeadlineMs = 2 ** 31 - 1

/** Throws a `DispatcherError` for a request that must not or cannot be sent. */
export const prepare = (request: DispatchRequest, defaultDeadlineMs: number): Prepared => {
  if (typeof request !== "object" || request === null) throw invalid("the request must be an object")
  for (const name in request) {
    if (!members.has(name))
      throw invalid(`the request has no member ${printable(name)}: it has ${[...members].join(", ")}`)
  }
  if (request.url === undefined) throw invalid("url must be a string: it is undefined")
  const method = request.method ?? "POST"
  if (!methods.has(method)) throw invalid("method must be POST, PUT, PATCH, DELETE or GET")
  const body = readBody(request.body)
  if (method === "GET" && body.byteLength > 0) throw invalid("body must be empty for the method GET")
  const deadlineMs = request.deadlineMs ?? defaultDeadlineMs
  if (!isDeadline(deadlineMs)) throw invalid("deadlineMs must be a number of milliseconds above 0 and below 2 ** 31")
  const headers = request.headers === undefined ? [] : readHeaders(request.headers)
  return { url: request.url, method, headers, body, deadlineMs }
}

export const isDeadline = (deadlineMs: unknown): deadlineMs is number =>
  typeof deadlineMs === "number" && deadlineMs > 0 && deadlineMs <= maxDeadlineMs

const invalid = (message: string) => new DispatcherError("invalid_request", message)

const readBody = (body: unknown): Uint8Array => {
  if (typeof body === "string") return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  throw invalid("body must be a string or a Uint8Array")
}

const readHeaders = (headers: Readonly<Record<string, string>>): Array<string> => {
  // Headers and Map have no keys of their own, so nothing of them would be sent.
  if (typeof headers !== "object" || headers === null || Symbol.iterator in headers) {
    throw invalid("headers must be a plain object of names and values")
  }
  const list: Array<string> = []
  const seen = new Set<string>()
  for (const name of Object.keys(headers)) {
    const lower = readName(name)
    const text: unknown = headers[name]
    if (seen.has(lower)) throw invalid(`the header ${lower} must be given once`)
    if (typeof text !== "string" || !value.test(text)) {
      throw invalid(`the header ${lower} must have a string of Latin-1 characters without line breaks as its value`)
    }
    seen.add(lower)
    list.push(name, text)
  }
  return list
}

/** Valid names with their lowercase form. Programs send the same few again and again. */
const known = new Map<string, string>()
const maxKnown = 200

/** A name for an error message, up to a colon or line break: a value could follow by mistake, and be a secret. */
const printable = (name: string): string => {
  const [start = ""] = name.slice(0, 64).split(/[:\r\n]/, 1)
  const escaped = JSON.stringify(start).replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
  return start === name ? escaped : `${escaped}...`
}

const readName = (name: string): string => {
  const before = known.get(name)
  if (before !== undefined) return before
  if (!token.test(name)) throw invalid(`the header name ${printable(name)} must be a token (RFC 9110 §5.6.2)`)
  const lower = name.toLowerCase()
  if (reserved.has(lower) || lower.startsWith("proxy-"))
    throw invalid(`the header ${lower} must not be set: the dispatcher sets it, or it belongs to the connection`)
  if (known.size < maxKnown && name.length <= 64) known.set(name, lower)
  return lower
}
