/**
 * The four scenarios of the sandbox, as data.
 *
 * The sandbox gateway of the server runs them. Times are in units of `GOVOICE_SANDBOX_STEP_MS`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Trigger } from "./InvoiceState.ts"

/**
 * The values of the `Gov-Sandbox-Scenario` header.
 *
 * @category models
 * @since 0.1.0
 */
export const Scenario = Schema.Literals(["accepted", "rejected", "temporary_failure", "delayed"])

/**
 * Type of a decoded `Scenario`.
 *
 * @category models
 * @since 0.1.0
 */
export type Scenario = typeof Scenario.Type

/**
 * The scenario of a submission without the header.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultScenario = "accepted" satisfies Scenario

/**
 * One step of a scenario: a trigger, and its delay after the previous step (after the submission for the first one), in
 * units of `GOVOICE_SANDBOX_STEP_MS`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Step {
  readonly afterSteps: number
  readonly trigger: Exclude<Trigger, "claim">
}

/**
 * The steps of each scenario.
 *
 * @category constants
 * @since 0.1.0
 */
export const steps = {
  accepted: [
    { afterSteps: 1, trigger: "submit" },
    { afterSteps: 1, trigger: "accept" },
    { afterSteps: 1, trigger: "receipt" }
  ],
  rejected: [
    { afterSteps: 1, trigger: "submit" },
    { afterSteps: 1, trigger: "reject" }
  ],
  temporary_failure: [
    { afterSteps: 1, trigger: "retry" },
    { afterSteps: 1, trigger: "retry" },
    { afterSteps: 2, trigger: "fail" }
  ],
  delayed: [
    { afterSteps: 1, trigger: "submit" },
    { afterSteps: 10, trigger: "accept" },
    { afterSteps: 1, trigger: "receipt" }
  ]
} as const satisfies { readonly [S in Scenario]: ReadonlyArray<Step> }

/**
 * The `rejection` of an invoice that the sandbox rejected.
 *
 * @category constants
 * @since 0.1.0
 */
export const rejection = {
  code: "sandbox_rejected",
  message: "The sandbox rejected the invoice, as its scenario says."
} as const

/**
 * The `failure` of an invoice while the sandbox gateway fails, and after the last attempt.
 *
 * @category constants
 * @since 0.1.0
 */
export const failure = {
  code: "gateway_unavailable",
  message: "The sandbox gateway was unavailable, as its scenario says."
} as const
