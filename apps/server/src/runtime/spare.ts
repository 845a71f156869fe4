/** The spare process: sends one request, for a delivery that is attempted alone. */
import { type DispatcherOptions, type DispatchRequest, makeDispatcher } from "@govoice/dispatcher"
import { serveCall } from "../jobs/SpareProcess.ts"

/** A request, and the options of the dispatcher that sends it. */
export interface SpareRequest {
  readonly options: DispatcherOptions
  readonly request: DispatchRequest
}

serveCall(({ options, request }: SpareRequest) => makeDispatcher(options).send(request))
