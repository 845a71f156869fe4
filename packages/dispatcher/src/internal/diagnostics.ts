/** Diagnostics and measurements of an attempt that ended. */
import type { AttemptDiagnostics, Phase } from "../Options.ts"
import type { Outcome } from "../Outcome.ts"
import type { Instruments } from "./instruments.ts"
import { between } from "./time.ts"

/** When an attempt reached each phase, by `performance.now()`. */
export interface PhaseTimestamps {
  readonly started: number
  /** Absent where the host is an address. */
  lookedUp?: number
  acquired?: number
  /** Absent where the connection was open already. */
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
  readonly timestamps: PhaseTimestamps
  readonly label: AttemptDiagnostics["outcome"]
  readonly code?: string | undefined
  readonly outcome?: Outcome | undefined
}

export const observe = (
  instruments: Instruments,
  label: AttemptDiagnostics["outcome"],
  timestamps: PhaseTimestamps
): void => {
  instruments.countAttempt(label)
  const { acquired, connected, ended, lookedUp, secured, sent, started } = timestamps
  if (lookedUp !== undefined) instruments.observePhase("lookup", lookedUp - started)
  if (acquired !== undefined) instruments.observePhase("queue", acquired - (lookedUp ?? started))
  if (connected !== undefined && acquired !== undefined) instruments.observePhase("connect", connected - acquired)
  if (secured !== undefined && connected !== undefined) instruments.observePhase("tls", secured - connected)
  if (sent !== undefined && ended !== undefined) instruments.observePhase("response", ended - sent)
}

export const diagnose = (observed: Observed): AttemptDiagnostics => {
  const { address, addressesTried, code, hostname, label, timestamps, outcome, phase, port } = observed
  const { acquired, connected, ended = timestamps.started, lookedUp, secured, sent, started } = timestamps
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
