/**
 * The HTTP client of KSeF, with an Effect face.
 *
 * It calls the hosts of one environment, follows no redirect, uses no proxy of the environment, and bounds what it reads.
 *
 * @module
 * @since 0.1.0
 */
export type { Download } from "./client/answers.ts"
export * as Environment from "./client/Environment.ts"
export * as KsefClient from "./client/KsefClient.ts"
export { type Call, KsefError, type Reason } from "./client/KsefError.ts"
export type { Resolve } from "./client/lookup.ts"
export type { Options } from "./client/Options.ts"
