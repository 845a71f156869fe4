/**
 * One outbound HTTP request that cannot be turned against its sender.
 *
 * @module
 */
export * as Backoff from "./Backoff.ts"
export { Dispatcher } from "./Dispatcher.ts"
export * as DispatcherMetrics from "./DispatcherMetrics.ts"
export { DispatcherError, type DispatcherErrorCode } from "./DispatcherError.ts"
export { badPorts, judgeAddress, judgeUrl, type Rule, type Verdict } from "./Guard.ts"
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
export { maxRetryAfterMs, parseRetryAfter } from "./RetryAfter.ts"
