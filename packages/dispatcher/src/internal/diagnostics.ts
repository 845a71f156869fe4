/** What an attempt leaves for those who operate the dispatcher. */
import type { AttemptDiagnostics, Phase } from "../Options.ts"
import type { Outcome } from "../Outcome.ts"
import type { Instruments } from "./instruments.ts"
import { between } from "./time.ts"

/** When an attempt came to each phase, by `performance.now()`. */
export interface Moments {
  readonly started: number
  /** Absent where nothing had to be looked up. */
  lookedUp?: number
  acquired?: number
  /** Absent where the connection was open before. */
  connected?: number | undefined
  secured?: number
  sent?: number
  ended?: number
}

export interface Observed {
  readonly hostname?: string
  readonly port?: number
  readonly secure?: boolean
  readonly address?: string | undefined
  readonly phase: Phase
  readonly addressesTried: number
  readonly moments: Moments
  readonly label: AttemptDiagnostics["outcome"]
  readonly code?: string | undefined
  readonly outcome?: Outcome | undefined
}

export const observe = (instruments: Instruments, label: AttemptDiagnostics["outcome"], moments: Moments): void => {
  instruments.ended(label)
  const { acquired, connected, ended, lookedUp, secured, sent, started } = moments
  if (lookedUp !== undefined) instruments.took("lookup", lookedUp - started)
  if (acquired !== undefined) instruments.took("queue", acquired - (lookedUp ?? started))
  if (connected !== undefined && acquired !== undefined) instruments.took("connect", connected - acquired)
  if (secured !== undefined && connected !== undefined) instruments.took("tls", secured - connected)
  if (sent !== undefined && ended !== undefined) instruments.took("response", ended - sent)
}

export const diagnose = (observed: Observed): AttemptDiagnostics => {
  const { address, addressesTried, code, hostname, label, moments, outcome, phase, port } = observed
  const { acquired, connected, ended = moments.started, lookedUp, secured, sent, started } = moments
  const span = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? undefined : between(from, to)
  return {
    hostname,
    port,
    outcome: label,
    phase: label === "delivered" || label === "refused" ? "done" : phase,
    address,
    addressesTried,
    reusedConnection: sent !== undefined && connected === undefined,
    code,
    rule: outcome?._tag === "Blocked" ? outcome.rule : undefined,
    status: outcome?._tag === "Delivered" || outcome?._tag === "Refused" ? outcome.status : undefined,
    durationMs: between(started, ended),
    timings: {
      lookupMs: span(started, lookedUp),
      queueMs: span(lookedUp ?? started, acquired),
      connectMs: span(acquired, connected),
      tlsMs: observed.secure === true ? span(connected, secured) : undefined,
      responseMs: span(sent, ended)
    }
  }
}
