/**
 * The state machine of a delivery (one event to one endpoint): its statuses, triggers and transitions.
 *
 * The workers apply the `transitions` table, and the diagrams of the guides are generated from it. A test compares the
 * constraints of the database with it.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * The status of a delivery.
 *
 * **Details**
 *
 * - `pending`: available, not yet attempted.
 * - `delivering`: a worker has claimed it and is sending it.
 * - `succeeded`: the endpoint returned a 2xx status. Final.
 * - `retrying`: the last attempt failed with a transient error, or was interrupted; another attempt is scheduled.
 * - `failed`: all attempts failed, or one failed with a permanent error. Final.
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
 * A trigger of a transition.
 *
 * **Details**
 *
 * - `claim`: a worker claims it. The scheduler rescues a delivery whose lease expired, and a worker claims it after a wait.
 * - `succeed`: the endpoint returned a 2xx status.
 * - `retry`: a transient error, and attempts remain.
 * - `fail`: a permanent error, or no attempts remain.
 * - `disable`: the check before sending found the endpoint disabled or deleted.
 * - `block`: the check before sending found an address that is not allowed.
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
 * The type of the table: for each status and trigger the next status, or `null` if the transition is illegal.
 *
 * @category models
 * @since 0.1.0
 */
export type Transitions = { readonly [S in Status]: { readonly [T in Trigger]: Status | null } }

const _ = null

/**
 * All transitions. A new status or trigger does not compile until each of its cells is filled in.
 *
 * These are all that the contract allows. The server takes fewer: it claims a delivery before it checks endpoint and address,
 * and an expired lease ends in `retrying`.
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
 * The status of a new delivery.
 *
 * @category constants
 * @since 0.1.0
 */
export const initial = "pending" satisfies Status

/**
 * The trigger is illegal in the status of the delivery.
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
 * Returns the status after `trigger`, or an `IllegalTransition`.
 *
 * **Example** (Applying a trigger)
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
 * Returns whether the status is final, that is, has no transition in the table.
 *
 * @category guards
 * @since 0.1.0
 */
export const isFinal = (status: Status): boolean =>
  Trigger.literals.every((trigger) => transitions[status][trigger] === null)
