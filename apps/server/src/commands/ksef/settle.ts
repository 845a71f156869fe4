/** `govoice ksef settle`: an operator decides about an invoice whose status no rule covers. */
import { Console, Effect } from "effect"
import { failSubmittedInvoice } from "../../invoices/live/failSubmittedInvoice.ts"
import * as deployment from "../deployment.ts"
import type { EnvironmentVariables } from "../../settings/EnvironmentVariables.ts"
import { CommandFailure } from "../CommandFailure.ts"

/** Decides that the invoice failed. */
export const settle = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { failed, invoice }: { readonly failed: boolean; readonly invoice: string }
) {
  if (!failed) {
    return yield* new CommandFailure({ message: "Name the outcome: --failed is the one that an operator can decide." })
  }
  const settings = yield* deployment.settings(env)
  const { code, outcome } = yield* deployment.onMigrated(
    settings,
    Effect.catchTag(failSubmittedInvoice(invoice), "FailRefused", ({ message }) =>
      Effect.fail(new CommandFailure({ message }))
    )
  )
  yield* Console.log(
    outcome === "settled"
      ? `Invoice ${invoice} failed with unknown_verdict: its status ${code} is polled no more, and its webhook is sent.`
      : `Invoice ${invoice} was settled before. Nothing changed.`
  )
})
