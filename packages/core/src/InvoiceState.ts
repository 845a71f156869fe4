/**
 * The life of an invoice: the statuses it passes through and what moves it.
 *
 * The whole policy is the `transitions` table. The database, the worker and the guides ask this module what may
 * happen next, and none of them decides it. It knows neither a gateway nor a clock.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { EventType } from "./InvoiceEvent.ts"

/**
 * Where an invoice stands, as stored and as shown.
 *
 * **Details**
 *
 * - `queued`: stored, waiting for a worker.
 * - `submitting`: a worker holds it and talks to the gateway.
 * - `retrying`: the gateway failed for a while; another attempt is planned.
 * - `submitted`: the national system has it and is deciding.
 * - `accepted`: an official number is assigned. Final, except that the receipt (UPO) may still arrive.
 * - `rejected`: the national system refused it. Final.
 * - `failed`: no verdict after all attempts. Final.
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
 * What can happen to an invoice.
 *
 * **Details**
 *
 * - `claim`: a worker takes it up, or takes it over from a worker whose lease has run out.
 * - `retry`: the gateway failed for a while and attempts remain.
 * - `submit`: the gateway handed it to the national system.
 * - `accept`, `reject`: the verdict.
 * - `receipt`: the receipt was stored.
 * - `fail`: no attempts remain, or the gateway cannot go on.
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
  queued:     { claim: "submitting", retry: _,          submit: _,           accept: _,          reject: _,          receipt: _,          fail: _ },
  submitting: { claim: "submitting", retry: "retrying", submit: "submitted", accept: _,          reject: "rejected", receipt: _,          fail: "failed" },
  retrying:   { claim: "submitting", retry: _,          submit: _,           accept: _,          reject: _,          receipt: _,          fail: _ },
  submitted:  { claim: "submitted",  retry: _,          submit: _,           accept: "accepted", reject: "rejected", receipt: _,          fail: "failed" },
  accepted:   { claim: "accepted",   retry: _,          submit: _,           accept: _,          reject: _,          receipt: "accepted", fail: _ },
  rejected:   { claim: _,            retry: _,          submit: _,           accept: _,          reject: _,          receipt: _,          fail: _ },
  failed:     { claim: _,            retry: _,          submit: _,           accept: _,          reject: _,          receipt: _,          fail: _ }
} as const satisfies Transitions

/**
 * The status every invoice starts in.
 *
 * @category constants
 * @since 0.1.0
 */
export const initial = "queued" satisfies Status

/**
 * The event type that each trigger emits, and the one that the arrival of the invoice emits.
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
} as const satisfies { readonly [T in Trigger]: EventType | null }

/**
 * The event type emitted when an invoice is stored.
 *
 * @category constants
 * @since 0.1.0
 */
export const emittedOnArrival = "invoice.received" satisfies EventType

/**
 * Something was to happen to an invoice that may not happen in its status.
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
 * Returns the status that follows `trigger`, or the reason why there is none.
 *
 * **Example** (Moving an invoice on)
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
 * Tells whether the status of the invoice cannot change any more. The receipt of an accepted invoice may still arrive.
 *
 * @category guards
 * @since 0.1.0
 */
export const isFinal = (status: Status): boolean =>
  Trigger.literals.every((trigger) => {
    const target = transitions[status][trigger]
    return target === null || target === status
  })
