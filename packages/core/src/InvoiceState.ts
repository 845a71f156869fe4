/**
 * The state machine of an invoice: its statuses, triggers and transitions.
 *
 * The workers apply the `transitions` table, and the diagrams of the guides are generated from it. A test compares the
 * constraints of the database with it.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * The status of an invoice.
 *
 * **Details**
 *
 * - `queued`: stored, waiting for a worker.
 * - `submitting`: a worker has claimed it and is calling the gateway.
 * - `retrying`: the last attempt failed with a transient error, or was interrupted; another attempt is scheduled.
 * - `submitted`: the national system has it and is deciding.
 * - `accepted`: an official number is assigned. Final, except that the receipt (UPO) may still arrive.
 * - `rejected`: the national system rejected it. Final.
 * - `failed`: all attempts failed, one failed permanently, or an operator ended it. Final.
 *
 * @category models
 * @since 0.1.0
 */
export const Status = Schema.Literals([
  "queued",
  "submitting",
  "retrying",
  "submitted",
  "accepted",
  "rejected",
  "failed"
])

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
 * - `claim`: a worker claims it.
 * - `retry`: a transient gateway error, and attempts remain.
 * - `submit`: the gateway delivered it to the national system.
 * - `accept`, `reject`: the decision of the national system.
 * - `receipt`: the receipt was stored.
 * - `fail`: a permanent gateway error, or no attempts remain.
 *
 * @category models
 * @since 0.1.0
 */
export const Trigger = Schema.Literals(["claim", "retry", "submit", "accept", "reject", "receipt", "fail"])

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
 * @category constants
 * @since 0.1.0
 */
// prettier-ignore
export const transitions = {
  queued:     { claim: "submitting", retry: _,          submit: _,           accept: _,          reject: _,          receipt: _,          fail: _ },
  submitting: { claim: "submitting", retry: "retrying", submit: "submitted", accept: _,          reject: "rejected", receipt: _,          fail: "failed" },
  retrying:   { claim: "submitting", retry: _,          submit: _,           accept: _,          reject: _,          receipt: _,          fail: _ },
  submitted:  { claim: "submitted",  retry: _,          submit: _,           accept: "accepted", reject: "rejected", receipt: _,          fail: "failed" },
  accepted:   { claim: "accepted",   retry: _,          submit: _,           accept: _,          reject: _,          receipt: "accepted", fail: _ },
  rejected:   { claim: _,            retry: _,          submit: _,           accept: _,          reject: _,          receipt: _,          fail: _ },
  failed:     { claim: _,            retry: _,          submit: _,           accept: _,          reject: _,          receipt: _,          fail: _ }
} as const satisfies Transitions

/**
 * The status of a new invoice.
 *
 * @category constants
 * @since 0.1.0
 */
export const initial = "queued" satisfies Status

/**
 * The event type that each trigger emits, or `null`.
 *
 * @category constants
 * @since 0.1.0
 */
export const emits = {
  claim: null,
  retry: null,
  submit: "invoice.submitted",
  accept: "invoice.accepted",
  reject: "invoice.rejected",
  receipt: "invoice.upo_available",
  fail: "invoice.failed"
} as const satisfies { readonly [T in Trigger]: `invoice.${string}` | null }

/**
 * The event type that a new invoice emits.
 *
 * @category constants
 * @since 0.1.0
 */
export const createdEvent = "invoice.received" satisfies `invoice.${string}`

/**
 * The trigger is illegal in the status of the invoice.
 *
 * @category errors
 * @since 0.1.0
 */
export class IllegalTransition extends Schema.TaggedError<IllegalTransition>()("IllegalInvoiceTransition", {
  status: Status,
  trigger: Trigger
}) {
  override get message(): string {
    return `An invoice that is ${this.status} cannot ${this.trigger}`
  }
}

/**
 * Returns the status after `trigger`, or an `IllegalTransition`.
 *
 * **Example** (Applying a trigger)
 *
 * ```ts import.meta.vitest
 * import { InvoiceState } from "@govoice/core"
 * import * as Result from "effect/Result"
 *
 * InvoiceState.next("submitting", "submit") // => Result.succeed("submitted")
 * Result.isFailure(InvoiceState.next("rejected", "accept")) // => true
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
 * Returns whether the status is final. The receipt of an accepted invoice may still arrive.
 *
 * @category guards
 * @since 0.1.0
 */
export const isFinal = (status: Status): boolean =>
  Trigger.literals.every((trigger) => {
    const target = transitions[status][trigger]
    return target === null || target === status
  })
