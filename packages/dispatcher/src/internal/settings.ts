/** The options of a dispatcher, validated and with their defaults. */
import type { SecureContext } from "node:tls"
import { DispatcherError } from "../DispatcherError.ts"
import type { DispatcherOptions } from "../Options.ts"
import { resolveWithDns } from "../Resolvers.ts"
import { type Proxy, readProxy } from "./optionReaders.ts"
import { compile, type Policy, valueOf } from "./policy.ts"
import type { PoolLimits } from "./poolManager.ts"
import { isDeadline } from "./request.ts"
import { secureContext } from "./secureContext.ts"

export interface Settings {
  readonly policy: Policy
  readonly deadlineMs: number
  readonly limits: PoolLimits
  readonly secureContext: SecureContext
  readonly proxy: Proxy | undefined
  readonly resolve: NonNullable<DispatcherOptions["resolve"]>
  readonly onConnect: DispatcherOptions["onConnect"]
  readonly onAttempt: DispatcherOptions["onAttempt"]
}

/** Throws a `DispatcherError` for an option with an invalid value, and a `TypeError` for one that does not exist. */
export const readSettings = (options: DispatcherOptions): Settings => {
  const policy = compile(options)
  const { deadlineMs = 10_000, maxConnectionsPerTarget, maxIdleConnections, maxTargets, proxy } = options
  if (!isDeadline(deadlineMs)) throw invalid("deadlineMs must be a number of milliseconds above 0 and below 2 ** 31")
  const limits = {
    maxConnections: count("maxConnectionsPerTarget", maxConnectionsPerTarget, 64),
    maxPools: count("maxTargets", maxTargets, 1_000),
    maxIdleConnections: count("maxIdleConnections", maxIdleConnections, 1_000)
  }
  for (const name of ["resolve", "onConnect", "onAttempt"] as const) {
    if (options[name] !== undefined && typeof options[name] !== "function") throw invalid(`${name} must be a function`)
  }
  return {
    policy,
    deadlineMs,
    limits,
    secureContext: secureContext(options.tls),
    proxy: proxy === undefined ? undefined : valueOf("proxy", readProxy(proxy)),
    resolve: options.resolve ?? resolveWithDns(),
    onConnect: options.onConnect,
    onAttempt: options.onAttempt
  }
}

const invalid = (message: string) => new DispatcherError("invalid_options", message)

const count = (name: string, value: number | undefined, byDefault: number): number => {
  if (value === undefined) return byDefault
  if (!Number.isInteger(value) || value < 1) throw invalid(`${name} must be a whole number above 0`)
  return value
}
