/** The quarantine process: sends requests and calls the sandbox gateway, one call at a time. */
import { type DispatcherOptions, type DispatchRequest, makeDispatcher } from "@govoice/dispatcher"
import { Effect } from "effect"
import type { GatewayInvoice } from "../invoices/sandbox/gateway/InvoiceGateway.ts"
import * as SandboxGateway from "../invoices/sandbox/gateway/SandboxGateway.ts"
import { serveCalls } from "../jobs/serveCalls.ts"

/** The settings of the process. */
export interface QuarantineStart {
  readonly dispatcher: DispatcherOptions
  readonly sandboxStepMs: number
}

serveCalls(({ dispatcher: options, sandboxStepMs }: QuarantineStart) => {
  const dispatcher = makeDispatcher(options)
  const gateway = SandboxGateway.make(sandboxStepMs)
  return {
    send: (request: DispatchRequest) => dispatcher.send(request),
    submit: (invoice: GatewayInvoice) => Effect.runPromise(gateway.submit(invoice)),
    poll: (invoice: GatewayInvoice) => Effect.runPromise(gateway.poll(invoice)),
    receipt: (invoice: GatewayInvoice) => Effect.runPromise(gateway.receipt(invoice))
  }
})
