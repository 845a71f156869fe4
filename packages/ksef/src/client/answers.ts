/**
 * Reads a response: as an answer, or as a failure with its cause.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { parseRetryAfter } from "@govoice/dispatcher"
import * as Sha256 from "../crypto/Sha256.ts"
import * as Problem from "../protocol/Problem.ts"
import { readJson } from "../protocol/readJson.ts"
import type { ExchangeFailure, Response } from "./exchange.ts"
import { type Call, KsefError, type Reason } from "./KsefError.ts"

/** A document that KSeF sent, with the hash of its bytes. */
export interface Download {
  readonly bytes: Buffer
  /** SHA-256 in Base64. */
  readonly hash: string
  /** Whether KSeF stated the same hash in a header; `false` where it stated none. */
  readonly isHashStated: boolean
}

export const header = (response: Response, name: string): string | undefined => {
  const value = response.headers[name]
  return typeof value === "string" ? value : value?.[0]
}

export const withoutAnswer = (call: Call, { code, outcome, reason }: ExchangeFailure): KsefError =>
  new KsefError({ call, outcome, reason, code, message: `${call}: ${reason}${code === undefined ? "" : ` (${code})`}` })

/** Fails for every status that is no success. */
export const succeeded = (call: Call, response: Response, now: number): Effect.Effect<Response, KsefError> => {
  const { status } = response
  if (status >= 200 && status < 300) return Effect.succeed(response)
  const reason = reasonOf(status)
  const problem = reason === "redirect" ? undefined : Problem.read(response.body.toString("utf8"))
  const retryAfter = header(response, "retry-after")
  const codes = (problem?.errors ?? []).map(({ code }) => code)
  const said = [...codes, problem?.reasonCode ?? ""].filter(Boolean).join(", ")
  return Effect.fail(
    new KsefError({
      call,
      reason,
      outcome: "answered",
      status,
      problem,
      retryAfterMs: retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, now),
      message: `${call}: ${reason} (${status}${said === "" ? "" : `: ${said}`})`
    })
  )
}

/** Decodes the JSON of a success. */
export const json = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (call: Call, response: Response): Effect.Effect<S["Type"], KsefError> => {
    const text = response.body.toString("utf8")
    let value: unknown
    try {
      value = readJson(text)
    } catch {
      return unusable(call, response, Problem.read(text).format === "html" ? "html" : "unreadable")
    }
    return Effect.catchEager(decode(value), (error) => unusable(call, response, "unreadable", paths(error.issue)))
  }
}

/** Takes the XML of a success, if it has the hash that its header states. */
export const xml = (call: Call, response: Response): Effect.Effect<Download, KsefError> => {
  const bytes = response.body
  if (Problem.read(bytes.toString("utf8", 0, 1024)).format === "html") return unusable(call, response, "html")
  if (bytes.length === 0) return unusable(call, response, "unreadable", "it is empty")
  const hash = Sha256.base64(bytes)
  const stated = header(response, "x-ms-meta-hash")
  return stated === undefined || stated === hash
    ? Effect.succeed({ bytes, hash, isHashStated: stated !== undefined })
    : unusable(call, response, "hash-mismatch")
}

const unusable = (call: Call, { status }: Response, reason: Reason, detail?: string): Effect.Effect<never, KsefError> =>
  Effect.fail(
    new KsefError({
      call,
      reason,
      outcome: "answered",
      status,
      message: `${call}: ${reason} (${status}${detail === undefined ? "" : `: ${detail}`})`
    })
  )

const reasonOf = (status: number): Reason => {
  if (status >= 300 && status < 400) return "redirect"
  if (status < 400 || status >= 500) return "server-error"
  return statuses.get(status) ?? "rejected"
}

const statuses: ReadonlyMap<number, Reason> = new Map([
  [401, "unauthorized"],
  [403, "forbidden"],
  [410, "gone"],
  [429, "rate-limited"]
])

// Paths and expectations. Values, which can be secrets, are not kept in issues unless a decoder asks for it.
const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const paths = (issue: SchemaIssue.Issue): string =>
  formatIssue(issue)
    .issues.map(({ message, path }) => `${(path ?? []).map(String).join(".")} ${message}`.trim())
    .join(", ")
    .slice(0, 500)
