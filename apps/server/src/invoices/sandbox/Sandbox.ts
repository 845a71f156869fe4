/**
 * The sandbox: what becomes of an invoice of test mode, and when.
 *
 * A transition is a function of the invoice and the time: the sandbox reads no clock, has no state, and no access to a network.
 */
import { InvoiceState, SandboxScenario } from "@govoice/core"
import { Result } from "effect"
import type { ClaimedInvoice, InvoiceTransition, PendingTransition } from "../ClaimedInvoice.ts"
import * as SandboxRecord from "./SandboxRecord.ts"

type Steps = ReadonlyArray<SandboxScenario.Step>

const stepsOf = (scenario: SandboxScenario.Scenario | null): Steps =>
  SandboxScenario.steps[scenario ?? SandboxScenario.defaultScenario]

const waitMs = (step: SandboxScenario.Step | undefined, stepMs: number): number => (step?.afterSteps ?? 0) * stepMs

/** Returns the delay between storing an invoice and its first step, in milliseconds. `stepMs` is the length of a step. */
export const submitAfterMs = (scenario: SandboxScenario.Scenario | null, stepMs: number): number =>
  waitMs(stepsOf(scenario)[0], stepMs)

// The first step that is left: the attempts made so far, and the decision, are the ones before it.
const nextStep = ({ attempt_count, status }: ClaimedInvoice, steps: Steps): number => {
  const after = (trigger: SandboxScenario.Step["trigger"]) =>
    steps.findIndex((step) => step.trigger === trigger) + 1 || steps.length
  if (status === "accepted") return after("accept")
  return status === "submitted" ? after("submit") : attempt_count
}

// What a step changes besides the status.
const changesOf = (
  trigger: SandboxScenario.Step["trigger"],
  invoice: ClaimedInvoice,
  at: Date,
  dueAt: Date
): Partial<InvoiceTransition> & Pick<InvoiceTransition, "dueAt"> => {
  switch (trigger) {
    case "submit":
      return { dueAt, submittedAt: at, failure: null }
    case "retry":
      return { dueAt, nextAttemptAt: dueAt, failure: SandboxScenario.failure }
    case "accept":
      return { dueAt, completedAt: at, officialNumber: SandboxRecord.officialNumber(invoice) }
    case "receipt":
      return {
        dueAt: null,
        receipt: SandboxRecord.receipt(invoice),
        officialMode: SandboxRecord.isOffline(invoice) ? "offline" : "online"
      }
    case "reject":
      return { dueAt: null, completedAt: at, rejection: SandboxScenario.rejection, failure: null }
    case "fail":
      return { dueAt: null, completedAt: at, failure: SandboxScenario.failure }
  }
}

/**
 * Returns the next transition of an invoice that is due.
 *
 * An invoice that waits to be submitted is claimed and submitted at once. One in a state that its scenario does not reach ends.
 */
export const advance = (stored: ClaimedInvoice, stepMs: number, at: Date): PendingTransition => {
  const steps = stepsOf(stored.scenario)
  const index = nextStep(stored, steps)
  const waits = stored.status !== "submitted" && stored.status !== "accepted"
  const invoice: ClaimedInvoice = waits
    ? { ...stored, status: "submitting", attempt_count: stored.attempt_count + 1 }
    : stored
  const statusBefore = stored.status
  if (steps[index] === undefined && stored.status === "accepted") {
    return { invoice, statusBefore, transition: { status: "accepted", emits: null, at, dueAt: null } }
  }
  const trigger = steps[index]?.trigger ?? "fail"
  const dueAt = new Date(at.getTime() + waitMs(steps[index + 1], stepMs))
  const status = Result.getOrThrow(InvoiceState.next(invoice.status, trigger))
  return {
    invoice,
    statusBefore,
    transition: { status, emits: InvoiceState.emits[trigger], at, ...changesOf(trigger, invoice, at, dueAt) }
  }
}
