/**
 * The promise API alone. Its types refer to neither Effect nor undici, so that a project without the `DOM` library and with
 * `skipLibCheck: false` compiles.
 *
 * @module
 */
export * as Backoff from "./Backoff.ts"
export { DispatcherError, type DispatcherErrorCode } from "./DispatcherError.ts"
export * as OptionParsers from "./OptionParsers.ts"
export { badPorts, type GuardVerdict, judgeAddress, judgeUrl, type Rule } from "./Guard.ts"
export { makeDispatcher, type PromiseDispatcher } from "./makeDispatcher.ts"
export type {
  AttemptDiagnostics,
  Cidr,
  Connected,
  DispatcherOptions,
  Phase,
  PolicyOptions,
  Resolve,
  TlsOptions
} from "./Options.ts"
export {
  type Blocked,
  type Delivered,
  describe,
  type Failed,
  type FailureReason,
  type Outcome,
  type Refused
} from "./Outcome.ts"
export type { DispatchRequest } from "./Request.ts"
export { type DnsOptions, resolveWithDns, resolveWithSystem } from "./Resolvers.ts"
export { maxRetryAfterMs, mayRequestWait, parseRetryAfter } from "./RetryAfter.ts"
