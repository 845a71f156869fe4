/**
 * Which limits hold for a call, and whether it keeps them.
 */
import type { OpenApi } from "../openapi/openApi.ts"
import { type Group, groupOf, groups, type Limit, publishedLimits } from "../openapi/rateLimits.ts"
import type { Operation } from "../openapi/Router.ts"
import type { LedgerCall } from "../state/records.ts"
import type { SessionLimits, State } from "../state/State.ts"
import { type Clock, hour } from "../time/Clock.ts"
import { type Admission, RateLimiter } from "./RateLimiter.ts"

const sessionLimit = { maxInvoiceSizeInMB: 1, maxInvoiceWithAttachmentSizeInMB: 3, maxInvoices: 10_000 }

/** The published bounds of sessions. */
export const publishedSessionLimits: SessionLimits = { onlineSession: sessionLimit, batchSession: sessionLimit }

/** How full the windows of one group are for one caller. */
export interface LimitUse {
  readonly key: string
  readonly limit: Limit
  readonly used: Limit
}

/** Limits of calls and of sessions, by context. */
export class Limits {
  readonly #state: State
  readonly #clock: Clock
  readonly #limiter: RateLimiter
  readonly #published: Readonly<Record<Group, Limit>>
  readonly #isOff: boolean
  readonly #seen = new Map<string, Limit>()

  constructor(options: {
    readonly state: State
    readonly clock: Clock
    readonly openApi: OpenApi
    readonly isOff: boolean
  }) {
    this.#state = options.state
    this.#clock = options.clock
    this.#limiter = new RateLimiter(options.clock)
    this.#published = publishedLimits(options.openApi.document)
    this.#isOff = options.isOff
    this.#restore(options.openApi.router.operations)
  }

  /** Counts a call of a context from an address, or tells how long to wait. */
  admit(operation: Operation, context: string | null, address: string): Admission {
    if (this.#isOff) return { ok: true }
    const group = groupOf(operation)
    const key = keyOf(operation, group, context, address)
    const limit = this.of(context)[group]
    if (this.#seen.size < 10_000) this.#seen.set(key, limit)
    return this.#limiter.admit(key, limit)
  }

  /** The limits of a context, under the names of `GET /rate-limits`. */
  of(context: string | null): Readonly<Record<Group, Limit>> {
    const overrides = context === null ? null : this.#state.context(context).rateLimits
    return overrides === null ? this.#published : { ...this.#published, ...overrides }
  }

  /** The bounds of a context's sessions. */
  ofSessions(context: string): SessionLimits {
    return this.#state.context(context).sessionLimits ?? publishedSessionLimits
  }

  /** The windows that have calls in them. */
  uses(): ReadonlyArray<LimitUse> {
    return Array.from(this.#seen, ([key, limit]) => ({ key, limit, used: this.#limiter.used(key) })).filter(
      ({ used }) => used.perHour > 0
    )
  }

  // Windows reach further back than a process may live.
  #restore(operations: ReadonlyArray<Operation>): void {
    const oldest = this.#clock.now() - this.#clock.scaled(hour)
    const byName = new Map(
      operations.map((operation): [string, Operation] => [operation.name ?? operation.key, operation])
    )
    const admitted = ({ overLimit, startedAt }: LedgerCall) => !overLimit && startedAt > oldest
    for (const call of Array.from(this.#state.calls.values()).filter(admitted)) {
      const operation = byName.get(call.operation)
      if (operation === undefined) continue
      this.#limiter.restore(keyOf(operation, groupOf(operation), call.context, call.address), call.startedAt)
    }
  }
}

// Each operation of the group `other` counts alone; anonymous calls count by address.
const keyOf = (operation: Operation, group: Group, context: string | null, address: string): string =>
  group === "anonymous"
    ? `${group} ${address}`
    : `${group === "other" ? `other (${operation.key})` : group} ${context ?? "-"} ${address}`

/** Whether a name is one of the groups. */
export const isGroup = (name: string): name is Group => groups.some((group) => group === name)
