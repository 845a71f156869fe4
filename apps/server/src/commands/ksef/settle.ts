/** `govoice ksef settle`: an operator decides about an invoice whose status no rule covers. */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { settleAsFailed } from "../../invoices/live/SettleInvoice.ts"
import * as deployment from "../deployment.ts"
import { Failure } from "../Failure.ts"

export const settle = (environment: deployment.Environment) =>
  Command.make(
    "settle",
    {
      invoice: Flag.String("invoice").pipe(Flag.withDescription("The invoice, inv_…, as the API names it.")),
      failed: Flag.Boolean("failed").pipe(
        Flag.withDescription("Decide that the invoice failed. It is the one outcome that an operator can decide."),
        Flag.withDefault(false)
      )
    },
    Effect.fnUntraced(function* ({ failed, invoice }) {
      if (!failed) {
        return yield* new Failure({ message: "Name the outcome: --failed is the one that an operator can decide." })
      }
      const settings = yield* deployment.settings(environment)
      const { code, outcome } = yield* deployment.onMigrated(
        settings,
        Effect.catchTag(settleAsFailed(invoice), "NotSettled", ({ message }) => Effect.fail(new Failure({ message })))
      )
      yield* Console.log(
        outcome === "settled"
          ? `Invoice ${invoice} failed with unknown_verdict: its status ${code} is polled no more, and its webhook is sent.`
          : `Invoice ${invoice} was settled before. Nothing changed.`
      )
    })
  ).pipe(
    Command.withDescription(
      "Decide that a submitted invoice failed. KSeF has given it a status that is not documented, and Govoice polls it until an operator decides. Look the invoice up in KSeF first: one that KSeF accepted must not be submitted again. Any other invoice is refused."
    ),
    Command.withShortDescription("Decide about an invoice whose status no rule covers."),
    Command.withExamples([
      { command: "govoice ksef settle --invoice inv_… --failed", description: "The invoice failed" }
    ])
  )
