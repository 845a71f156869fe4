/**
 * The life of a delivery of one event to one endpoint: the statuses it passes through and what moves it.
 *
 * The whole policy is the `transitions` table. The database, the worker and the guides ask this module what may
 * happen next, and none of them decides it. Nothing here reads a clock, a row or a setting.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * Where a delivery stands, as stored and as shown.
 *
 * **Details**
 *
 * - `pending`: planned, not yet attempted.
 * - `delivering`: a worker has claimed it and is sending it.
 * - `succeeded`: the endpoint answered with a 2xx status. Final.
 * - `retrying`: a retryable failure occurred and attempts remain.
 * - `failed`: it will not be delivered. Final.
 * - `endpoint_disabled`: the endpoint was disabled or deleted before sending. Final.
 *
 * @category models
 * @since 0.1.0
 */
export const Status = Schema.Literals(["pending", "delivering", "succeeded", "retrying", "failed", "endpoint_disabled"])

/**
 * Type of a decoded `Status`.
 *
 * @category models
 * @since 0.1.0
 */
export type Status = typeof Status.Type

/**
 * What can happen to a delivery.
 *
 * **Details**
 *
 * - `claim`: a worker takes it up, or takes it over from a worker whose lease has run out.
 * - `succeed`: the endpoint answered with a 2xx status.
 * - `retry`: a retryable failure, and attempts remain.
 * - `fail`: a failure that is final, or the last attempt failed.
 * - `disable`: the check before sending found the endpoint disabled or deleted.
 * - `block`: the check before sending found an unsafe target.
 *
 * @category models
 * @since 0.1.0
 */
export const Trigger = Schema.Literals(["claim", "succeed", "retry", "fail", "disable", "block"])

/**
 * Type of a decoded `Trigger`.
 *
 * @category models
 * @since 0.1.0
 */
export type Trigger = typeof Trigger.Type

/**
 * The form of the table: a status for every cell, or `null` where nothing may happen.
 *
 * @category models
 * @since 0.1.0
 */
export type Transitions = { readonly [S in Status]: { readonly [T in Trigger]: Status | null } }

const _ = null

/**
 * Every transition there is. Adding a status or a trigger does not compile until each cell is decided.
 *
 * @category constants
 * @since 0.1.0
 */
// prettier-ignore
export const transitions = {
  pending:           { claim: "delivering", succeed: _,           retry: _,          fail: _,        disable: "endpoint_disabled", block: "failed" },
  delivering:        { claim: "delivering", succeed: "succeeded", retry: "retrying", fail: "failed", disable: "endpoint_disabled", block: "failed" },
  succeeded:         { claim: _,            succeed: _,           retry: _,          fail: _,        disable: _,                   block: _ },
  retrying:          { claim: "delivering", succeed: _,           retry: _,          fail: _,        disable: "endpoint_disabled", block: "failed" },
  failed:            { claim: _,            succeed: _,           retry: _,          fail: _,        disable: _,                   block: _ },
  endpoint_disabled: { claim: _,            succeed: _,           retry: _,          fail: _,        disable: _,                   block: _ }
} as const satisfies Transitions

/**
 * The status every delivery starts in.
 *
 * @category constants
 * @since 0.1.0
 */
export const initial = "pending" satisfies Status

/**
 * Something was to happen to a delivery that may not happen in its status.
 *
 * @category errors
 * @since 0.1.0
 */
export class IllegalTransition extends Schema.TaggedError<IllegalTransition>()("IllegalDeliveryTransition", {
  status: Status,
  trigger: Trigger
}) {
  override get message(): string {
    return `A delivery that is ${this.status} cannot ${this.trigger}`
  }
}

/**
 * Returns the status that follows `trigger`, or the reason why there is none.
 *
 * **Example** (Moving a delivery on)
 *
 * ```ts import.meta.vitest
 * import { DeliveryState } from "@govoice/core"
 * import * as Result from "effect/Result"
 *
 * DeliveryState.next("delivering", "retry") // => Result.succeed("retrying")
 * Result.isFailure(DeliveryState.next("succeeded", "claim")) // => true
 * ```
 *
 * @category transitions
 * @since 0.1.0
 */
export const next = (status: Status, trigger: Trigger): Result.Result<Status, IllegalTransition> => {
  const target = transitions[status][trigger]
  return target === null ? Result.fail(new IllegalTransition({ status, trigger })) : Result.succeed(target)
}

/**
 * Tells whether nothing can happen to the delivery any more. Read from the table, so that the two cannot disagree.
 *
 * @category guards
 * @since 0.1.0
 */
export const isFinal = (status: Status): boolean =>
  Trigger.literals.every((trigger) => transitions[status][trigger] === null)
