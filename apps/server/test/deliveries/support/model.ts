/**
 * The model of delivery: what becomes of a delivery when an attempt ends, by how the receiver behaves at that moment.
 */
import type { Ids } from "@govoice/core"
import type { Outcome } from "@govoice/dispatcher"
import * as Fake from "../../support/FakeDispatcher.ts"

export const retrySchedule = [1000, 2000]
export const maxAttempts = retrySchedule.length + 1
export const stepMs = 500

export const scenarios = ["accepted", "rejected", "temporary_failure", "delayed"] as const

export const lives = {
  accepted: ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"],
  delayed: ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"],
  rejected: ["invoice.received", "invoice.submitted", "invoice.rejected"],
  temporary_failure: ["invoice.received", "invoice.failed"]
} as const

export type Behavior = "accepts" | "fails" | "refuses" | "hangs" | "unsafe" | "interrupts"

export const outcomes: Readonly<Record<Behavior, Outcome>> = {
  accepts: Fake.delivered,
  fails: Fake.refused(503),
  refuses: Fake.refused(404),
  hangs: Fake.failed("timeout"),
  unsafe: Fake.blocked,
  // The sender ends during the request, and this outcome reaches no one.
  interrupts: Fake.delivered
}

/** A delivery as the model has it. */
export interface Expected {
  readonly endpoint: Ids.EndpointId
  status: string
  attempts: number
  /** How many workers were lost during an attempt at it and did not complete it in time. */
  interruptions: number
}

export interface Endpoint {
  readonly id: Ids.EndpointId
  readonly organization: Ids.OrganizationId
  behavior: Behavior
  usable: boolean
  deleted: boolean
}

/** The model: what an attempt that ends makes of a delivery. */
export const after = (expected: Expected, behavior: Behavior, usable: boolean): void => {
  if (!usable) return void (expected.status = "endpoint_disabled")
  if (behavior === "unsafe") return void (expected.status = "failed")
  expected.attempts += 1
  if (behavior === "accepts") expected.status = "succeeded"
  else if (behavior === "refuses") expected.status = "failed"
  else expected.status = expected.attempts >= maxAttempts ? "failed" : "retrying"
}
