/** Reads what a caller wants to send, and refuses what would let it, or its headers, change the framing or the target. */
import { DispatcherError } from "../DispatcherError.ts"
import type { DispatchRequest } from "../Request.ts"

export interface Prepared {
  readonly method: string
  readonly headers: Array<string>
  readonly body: Uint8Array
  readonly deadlineMs: number
}

const methods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE", "GET"])

/** Headers that belong to the connection or say where a message ends (RFC 9110 §7.6.1, RFC 9112 §6), and `Host`. */
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

export const prepare = (request: DispatchRequest, defaultDeadlineMs: number): Prepared => {
  if (typeof request !== "object" || request === null) throw invalid("the request is not an object")
  const method = request.method ?? "POST"
  if (!methods.has(method)) throw invalid("method is not one of POST, PUT, PATCH, DELETE, GET")
  const body = readBody(request.body)
  if (method === "GET" && body.byteLength > 0) throw invalid("a GET has no body")
  const deadlineMs = request.deadlineMs ?? defaultDeadlineMs
  if (!isDeadline(deadlineMs)) throw invalid("deadlineMs is not a number of milliseconds above 0")
  return { method, headers: request.headers === undefined ? [] : readHeaders(request.headers), body, deadlineMs }
}

export const isDeadline = (deadlineMs: unknown): deadlineMs is number =>
  typeof deadlineMs === "number" && deadlineMs > 0 && deadlineMs <= maxDeadlineMs

const invalid = (message: string) => new DispatcherError("invalid_request", message)

const readBody = (body: unknown): Uint8Array => {
  if (typeof body === "string") return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  throw invalid("body is neither a string nor a Uint8Array")
}

const readHeaders = (headers: Readonly<Record<string, string>>): Array<string> => {
  // Headers, a Map and the like have no keys of their own: nothing of them would be sent.
  if (typeof headers !== "object" || headers === null || Symbol.iterator in headers) {
    throw invalid("headers is not a record")
  }
  const list: Array<string> = []
  const seen = new Set<string>()
  for (const name of Object.keys(headers)) {
    const lower = readName(name)
    const text: unknown = headers[name]
    if (seen.has(lower)) throw invalid(`the header ${lower} is given twice`)
    if (typeof text !== "string" || !value.test(text))
      throw invalid(`the header ${lower} has a value that cannot be sent`)
    seen.add(lower)
    list.push(name, text)
  }
  return list
}

/** Names that may be sent, with their lowercase form. Programs send the same few again and again. */
const known = new Map<string, string>()
const maxKnown = 200

const readName = (name: string): string => {
  const before = known.get(name)
  if (before !== undefined) return before
  // A name that is no token could be anything, a secret included, so it is not repeated.
  if (!token.test(name)) throw invalid("headers has a name that is not a token")
  const lower = name.toLowerCase()
  if (reserved.has(lower) || lower.startsWith("proxy-")) throw invalid(`the header ${lower} cannot be set`)
  if (known.size < maxKnown && name.length <= 64) known.set(name, lower)
  return lower
}
