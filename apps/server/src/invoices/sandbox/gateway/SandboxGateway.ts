/**
 * The gateway of test mode: runs the scenario that the invoice names.
 *
 * An answer is a function of the invoice and its attempt. The gateway reads no clock, has no state and no access to a
 * network; the caller waits as long as the answers say.
 */
import { SandboxScenario } from "@govoice/core"
import { Effect } from "effect"
import type { InvoiceGateway, PollAnswer, ReceiptAnswer, SubmitAnswer } from "./InvoiceGateway.ts"
import * as SandboxRecord from "./SandboxRecord.ts"

/** Makes the gateway. `stepMs` is the length of one step of a scenario, in milliseconds. */
export const make = (stepMs: number): InvoiceGateway => {
  const waitMs = (step: SandboxScenario.Step | undefined): number => (step?.afterSteps ?? 0) * stepMs

  return {
    submitAfterMs: (scenario) => waitMs(phasesOf(scenario).attempts[0]),

    submit: (invoice) =>
      Effect.sync((): SubmitAnswer => {
        const { attempts, decision } = phasesOf(invoice.scenario)
        // After an expired lease the attempt can be higher than the scenario has steps.
        const index = Math.min(Math.max(invoice.attempt, 1), attempts.length) - 1
        switch (attempts[index]?.trigger) {
          case "submit":
            return { _tag: "Submitted", reference: SandboxRecord.reference(invoice), pollAfterMs: waitMs(decision) }
          case "retry":
            return {
              _tag: "Temporary",
              reason: SandboxScenario.failure,
              retryAfterMs: waitMs(attempts[index + 1])
            }
          case "reject":
            return { _tag: "Rejected", reason: SandboxScenario.rejection }
          default:
            return unavailable
        }
      }),

    poll: (invoice) =>
      Effect.sync((): PollAnswer => {
        const { decision, receipt } = phasesOf(invoice.scenario)
        switch (decision?.trigger) {
          case "accept":
            return {
              _tag: "Accepted",
              officialNumber: SandboxRecord.officialNumber(invoice),
              receiptAfterMs: waitMs(receipt)
            }
          case "reject":
            return { _tag: "Rejected", reason: SandboxScenario.rejection }
          default:
            return unavailable
        }
      }),

    receipt: (invoice) =>
      Effect.sync((): ReceiptAnswer => {
        const { receipt } = phasesOf(invoice.scenario)
        return receipt === undefined ? unavailable : { _tag: "Available", xml: SandboxRecord.receipt(invoice) }
      })
  }
}

const unavailable = { _tag: "Permanent", reason: SandboxScenario.failure } as const

interface Phases {
  /** The outcome of each attempt to submit. */
  readonly attempts: ReadonlyArray<SandboxScenario.Step>
  readonly decision: SandboxScenario.Step | undefined
  readonly receipt: SandboxScenario.Step | undefined
}

const phasesOf = (scenario: SandboxScenario.Scenario | null): Phases => {
  const steps: ReadonlyArray<SandboxScenario.Step> = SandboxScenario.steps[scenario ?? SandboxScenario.defaultScenario]
  const last = steps.findIndex(({ trigger }) => trigger !== "retry")
  return { attempts: steps.slice(0, last + 1), decision: steps[last + 1], receipt: steps[last + 2] }
}
