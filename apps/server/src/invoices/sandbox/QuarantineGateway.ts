/**
 * The sandbox gateway of the quarantine process, as an `InvoiceGateway`. Its effects die with `QuarantineInterruption` when
 * the process ended during the call.
 */
import { Effect } from "effect"
import { QuarantineProcess } from "../../jobs/QuarantineProcess.ts"
import type { GatewayInvoice, InvoiceGateway } from "./gateway/InvoiceGateway.ts"

/** Makes the gateway. `submitAfterMs` is that of the gateway that it stands for. */
export const make = ({ submitAfterMs }: InvoiceGateway): Effect.Effect<InvoiceGateway, never, QuarantineProcess> =>
  Effect.map(QuarantineProcess, ({ call }) => {
    const method =
      <A>(name: string) =>
      (invoice: GatewayInvoice): Effect.Effect<A> =>
        Effect.orDie(Effect.map(call(name, invoice), (answer) => answer as A))
    return { submitAfterMs, submit: method("submit"), poll: method("poll"), receipt: method("receipt") }
  })
