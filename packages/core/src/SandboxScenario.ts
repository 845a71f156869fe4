/**
 * The four ways a sandbox invoice can go, as data.
 *
 * A sandbox gateway plays them; nothing here waits or talks to anybody. Times are in steps, whose length the deployment
 * decides (`GOVOICE_SANDBOX_STEP_MS`).
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
 * The scenario of a submission that names none.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultScenario = "accepted" satisfies Scenario

/**
 * One move of the play: what happens, and how many steps after the move before it. The first counts from the arrival.
 *
 * @category models
 * @since 0.1.0
 */
export interface Move {
  readonly afterSteps: number
  readonly trigger: Exclude<Trigger, "claim">
}

/**
 * The play of every scenario.
 *
 * @category constants
 * @since 0.1.0
 */
export const plays = {
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
} as const satisfies { readonly [S in Scenario]: ReadonlyArray<Move> }

/**
 * What the sandbox says when it rejects an invoice.
 *
 * @category constants
 * @since 0.1.0
 */
export const rejection = {
  code: "sandbox_rejected",
  message: "The sandbox rejected the invoice, as its scenario says."
} as const

/**
 * What the sandbox says while it fails, and when it has failed for good.
 *
 * @category constants
 * @since 0.1.0
 */
export const failure = {
  code: "gateway_unavailable",
  message: "The sandbox gateway was unavailable, as its scenario says."
} as const
