/**
 * The gateway of test mode: plays the scenario that the invoice names.
 *
 * Which answer it gives depends on the invoice and its attempt alone. It waits for nothing, reads no clock, holds no
 * state and has no way to reach a network; the caller does the waiting that the answers ask for.
 *
 * @since 0.1.0
 */
import { SandboxScenario } from "@govoice/core"
import { Effect } from "effect"
import type { InvoiceGateway, Receipt, Submission, Verdict } from "../InvoiceGateway.ts"
import * as SandboxRecord from "./SandboxRecord.ts"

/**
 * Makes the gateway. `stepMs` is the length of one step of a play, in milliseconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (stepMs: number): InvoiceGateway => {
  const after = (move: SandboxScenario.Move | undefined): number => (move?.afterSteps ?? 0) * stepMs

  return {
    submitAfterMs: (scenario) => after(playOf(scenario).attempts[0]),

    submit: (invoice) =>
      Effect.sync((): Submission => {
        const { attempts, verdict } = playOf(invoice.scenario)
        // A worker that was lost leaves a count higher than the play has moves.
        const index = Math.min(Math.max(invoice.attempt, 1), attempts.length) - 1
        switch (attempts[index]?.trigger) {
          case "submit":
            return { _tag: "Submitted", reference: SandboxRecord.reference(invoice), pollAfterMs: after(verdict) }
          case "retry":
            return {
              _tag: "Temporary",
              reason: SandboxScenario.failure,
              retryAfterMs: after(attempts[index + 1])
            }
          case "reject":
            return { _tag: "Rejected", reason: SandboxScenario.rejection }
          default:
            return unavailable
        }
      }),

    poll: (invoice) =>
      Effect.sync((): Verdict => {
        const { verdict, receipt } = playOf(invoice.scenario)
        switch (verdict?.trigger) {
          case "accept":
            return {
              _tag: "Accepted",
              officialNumber: SandboxRecord.officialNumber(invoice),
              receiptAfterMs: after(receipt)
            }
          case "reject":
            return { _tag: "Rejected", reason: SandboxScenario.rejection }
          default:
            return unavailable
        }
      }),

    receipt: (invoice) =>
      Effect.sync((): Receipt => {
        const { receipt } = playOf(invoice.scenario)
        return receipt === undefined ? unavailable : { _tag: "Available", xml: SandboxRecord.receipt(invoice) }
      })
  }
}

const unavailable = { _tag: "Permanent", reason: SandboxScenario.failure } as const

interface Play {
  /** What each attempt to submit comes to. */
  readonly attempts: ReadonlyArray<SandboxScenario.Move>
  readonly verdict: SandboxScenario.Move | undefined
  readonly receipt: SandboxScenario.Move | undefined
}

const playOf = (scenario: SandboxScenario.Scenario | null): Play => {
  const moves: ReadonlyArray<SandboxScenario.Move> = SandboxScenario.plays[scenario ?? SandboxScenario.defaultScenario]
  const last = moves.findIndex(({ trigger }) => trigger !== "retry")
  return { attempts: moves.slice(0, last + 1), verdict: moves[last + 1], receipt: moves[last + 2] }
}
