/**
 * A request to the API, as handlers see it.
 */
import type { OperationName } from "../openapi/operations.ts"
import type { Operation } from "../openapi/Router.ts"
import type { Simulation } from "../Simulation.ts"
import type { Login } from "../state/records.ts"
import type { Reply } from "./Reply.ts"

/** A request whose bearer, limits and form were checked. */
export interface Call {
  readonly simulation: Simulation
  readonly operation: Operation
  readonly name: OperationName
  /** When it came. */
  readonly now: number
  readonly address: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** Parameters of the path. */
  readonly path: Readonly<Record<string, string>>
  /** Parameters of the query, as the document types them. */
  readonly query: Readonly<Record<string, unknown>>
  /** The body: what JSON says, or the bytes of anything else. */
  readonly body: unknown
  readonly login: Login | undefined
}

/** A request that carries an access token. */
export interface AuthorizedCall extends Call {
  readonly login: Login
}

/** Carries out an operation. */
export type Handler = (call: Call) => Reply | Promise<Reply>

/** Carries out an operation for the holder of a token. */
export type AuthorizedHandler = (call: AuthorizedCall) => Reply | Promise<Reply>

/** Makes a handler of one that needs the holder of a token. */
export const authorized =
  (handler: AuthorizedHandler): Handler =>
  (call) => {
    if (call.login === undefined) throw new Error(`${call.name} was called without a login`)
    return handler(call as AuthorizedCall)
  }
