/**
 * Classifies the failures of calls by the tables of `@govoice/ksef/protocol`. Pure.
 */
import { Text } from "@govoice/core"
import type { KsefError } from "@govoice/ksef/client"
import { Data } from "effect"
import { ErrorCodes, type LoginStatuses, Operation } from "@govoice/ksef/protocol"

/** A call: of the API, or of the storage at an address that KSeF handed out. */
export type CallName = Operation.Operation | StorageCall

/** A call of the storage. The limits of the API do not count it. */
export type StorageCall = "uploadPart" | "downloadUpo"

/**
 * A failed call.
 *
 * - `postponed`: the call was not made, because it has to wait. `code` is the reason.
 * - `unavailable`: a transient error. `wasSent` tells whether the national system can have acted on the request.
 * - `rate-limited`: 429.
 * - `unauthorized`: the access token is not valid.
 * - `refused`: the credential is not good for this.
 * - `not-readable`: this login cannot read the session or invoice.
 * - `blocked`: the taxpayer or this address is blocked. `isExplicit` tells whether KSeF or its firewall said so: a 403 without a
 *   reason may also mean that the login is not good any more. `isLasting` tells whether the block is one that is known to last.
 * - `code`: an error code and its action.
 */
export type Failure =
  | { readonly _tag: "postponed"; readonly code: WaitCode; readonly message: string }
  | { readonly _tag: "unavailable"; readonly wasSent: boolean; readonly message: string }
  | { readonly _tag: "rate-limited"; readonly message: string }
  | { readonly _tag: "unauthorized"; readonly message: string }
  | { readonly _tag: "refused"; readonly code: LoginStatuses.CredentialCode; readonly message: string }
  | { readonly _tag: "not-readable"; readonly message: string }
  | { readonly _tag: "blocked"; readonly isExplicit: boolean; readonly isLasting: boolean; readonly message: string }
  | {
      readonly _tag: "code"
      readonly code: number
      readonly action: ErrorCodes.ErrorAction
      readonly refusal: LoginStatuses.CredentialCode | undefined
      readonly message: string
    }

/**
 * A call that failed: which one, what it means, and from when on it may be made again, as far as limits and KSeF say.
 *
 * A step makes auxiliary calls, such as a login, before the call that it is about. What a failure means for an invoice or for a
 * session depends on which of them failed: read it with `failureOf`.
 */
export class CallFailed extends Data.TaggedError("CallFailed")<{
  readonly call: CallName
  readonly failure: Failure
  readonly until: number
}> {}

/** Returns the failure of these calls themselves; `undefined` where another one failed before them. */
export const failureOf = (error: { readonly _tag: string }, ...calls: ReadonlyArray<CallName>): Failure | undefined =>
  error instanceof CallFailed && calls.includes(error.call) ? error.failure : undefined

/** Tells whether a call that failed may have been carried out all the same. */
export const mayBeDone = (error: { readonly _tag: string }, call: CallName): boolean => {
  const failure = failureOf(error, call)
  return failure?._tag === "unavailable" && failure.wasSent
}

// The calls that are about one session.
const ofSession = [
  "sessionStatus",
  "sessionInvoices",
  "invoiceStatus",
  "closeOnline",
  "closeBatch"
] as const satisfies ReadonlyArray<CallName>

/** Tells whether this login cannot read the session that the call was about. */
export const isUnreadableSession = (error: { readonly _tag: string }): boolean => {
  const failure = failureOf(error, ...ofSession)
  return failure?._tag === "not-readable" || (failure?._tag === "code" && failure.action === "session-unreadable")
}

const isOperation = (call: string): call is Operation.Operation => Object.hasOwn(Operation.operations, call)

const maxDetailLength = 1000

/** Appends what KSeF said to a sentence. */
export const withDetails = (sentence: string, details: ReadonlyArray<string> | null | undefined): string => {
  const text = (details ?? []).join(" ").trim()
  return text === "" ? sentence : `${sentence} KSeF: ${Text.truncate(text, maxDetailLength)}`
}

/** Why a call has to wait, as the owner of an invoice sees it. */
export type WaitCode = "gateway_blocked" | "gateway_limit" | "gateway_unavailable"

// The firewall before KSeF answers with this title, or with a page.
const isFirewall = ({ problem }: KsefError): boolean =>
  problem?.title === "Request blocked" || problem?.format === "html"

/** Classifies the error of a call. */
export const classify = (error: KsefError): Failure => {
  const { call, outcome, problem, reason } = error
  const details = (problem?.errors ?? []).flatMap(({ description, details: texts }) => [description ?? "", ...texts])
  const message = withDetails(sentenceOf(error), details.filter(Boolean))
  switch (reason) {
    case "rate-limited":
      return { _tag: "rate-limited", message }
    case "unauthorized":
      return { _tag: "unauthorized", message }
    case "gone":
      return { _tag: "code", code: 410, action: "log-in-again", refusal: undefined, message }
    case "forbidden": {
      const { action, meaning, refusal } = ErrorCodes.forbidden(problem?.reasonCode, problem?.detail)
      if (action === "not-readable") return { _tag: "not-readable", message }
      // The firewall did not reach KSeF.
      if (action === "unavailable") {
        return { _tag: "unavailable", wasSent: false, message: `${sentences["connect-failed"]}: ${meaning}.` }
      }
      if (refusal === undefined) {
        const isExplicit = problem?.reasonCode !== undefined || isFirewall(error)
        return { _tag: "blocked", isExplicit, isLasting: action === "rest", message }
      }
      const missing = problem?.missingPermissions ?? []
      const rights = missing.length === 0 ? "" : ` One of these rights is required: ${missing.join(", ")}.`
      return { _tag: "refused", code: refusal, message: `KSeF refuses the credential: ${meaning}.${rights}` }
    }
    case "rejected": {
      const code = problem?.errors[0]?.code
      // An answer without a code of the document is not one of the API.
      if (code === undefined) return { _tag: "unavailable", wasSent: true, message }
      const row = isOperation(call) ? ErrorCodes.errorCode(call, code) : undefined
      return { _tag: "code", code, action: row?.action ?? "defect", refusal: row?.refusal, message }
    }
    default:
      return { _tag: "unavailable", wasSent: outcome !== "unsent", message }
  }
}

const sentenceOf = ({ code, reason, status }: KsefError): string => {
  const suffix = status === undefined ? (code === undefined ? "" : ` (${code})`) : ` (HTTP ${status})`
  return `${sentences[reason]}${suffix}.`
}

const sentences: Readonly<Record<KsefError["reason"], string>> = {
  "lookup-failed": "The host name of KSeF could not be resolved",
  "address-refused": "The host name of KSeF has an address that may not be called",
  "connect-failed": "KSeF could not be connected to",
  "tls-failed": "The TLS connection to KSeF failed",
  timeout: "KSeF did not answer in time",
  "connection-lost": "The connection to KSeF was lost",
  redirect: "KSeF answered with a redirect, which is not followed",
  "rate-limited": "KSeF limits the calls of this taxpayer",
  unauthorized: "KSeF does not accept the access token",
  forbidden: "KSeF forbids the call",
  gone: "The login has ended",
  rejected: "KSeF rejected the request",
  "server-error": "KSeF failed",
  html: "KSeF answered with a web page",
  unreadable: "The answer of KSeF could not be read",
  "too-large": "The answer of KSeF was too large",
  "hash-mismatch": "The document that KSeF sent does not have the stated hash"
}
