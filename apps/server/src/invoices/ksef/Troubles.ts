/** Why the invoices of taxpayers wait, as far as the lanes of this process know. */
import type { Invoice } from "@govoice/core"
import type { StoredReasons } from "./waitReason.sql.ts"

/** The steps of a lane that invoices wait for. */
export type WaitingStep = "send" | "verdicts"

/** A reason to wait. `isRoutine` tells whether it is nothing to log: a limit that was kept, or a call that was not made. */
export interface Trouble {
  readonly reason: Invoice.Reason
  /** When the lane goes on. */
  readonly until: number
  readonly isRoutine: boolean
}

/** The lease under which a lane reports: it is the last one of its taxpayer until another process has claimed the lane. */
export interface Lease {
  readonly context: string
  readonly fencingToken: number
}

/** The trouble of a taxpayer, for the log: when it began, its first reason, and how many failures there were. */
export interface TroubleRecord {
  readonly context: string
  readonly code: string
  readonly since: number
  readonly failures: number
}

interface Taxpayer {
  fencingToken: number
  readonly steps: Map<WaitingStep, Trouble>
  readonly failures: Record<WaitingStep, number>
  /** Absent while nothing of it is to be logged. */
  record?: TroubleRecord
  isLogged: boolean
}

const newTaxpayer = (fencingToken: number): Taxpayer => ({
  fencingToken,
  steps: new Map(),
  failures: { send: 0, verdicts: 0 },
  isLogged: false
})

// A wait without an end.
const latest = Date.UTC(9999)

/** The reasons of a process, by taxpayer. They outlive the leases of lanes, which are released while they wait. */
export class Troubles {
  readonly #taxpayers = new Map<string, Taxpayer>()

  /** Keeps why a step of a lane waits. A wait without a call tells less than the failure before it with the same code. */
  report({ fencingToken, context }: Lease, step: WaitingStep, trouble: Trouble, now: number): void {
    const { reason, isRoutine } = trouble
    const taxpayer = this.#taxpayers.get(context) ?? newTaxpayer(fencingToken)
    this.#taxpayers.set(context, taxpayer)
    taxpayer.fencingToken = fencingToken
    const before = taxpayer.steps.get(step)
    const isKept = isRoutine && before?.reason.code === reason.code
    taxpayer.steps.set(step, isKept ? { ...trouble, reason: before.reason } : trouble)
    taxpayer.failures[step] += 1
    if (isRoutine && taxpayer.record === undefined) return
    const { code = reason.code, failures = 0, since = now } = taxpayer.record ?? {}
    taxpayer.record = { context, code, since, failures: failures + Number(!isRoutine) }
  }

  /** The step goes on. */
  resolve(context: string, step: WaitingStep): void {
    this.#taxpayers.get(context)?.steps.delete(step)
  }

  /** The lane has nothing to do. */
  resolveAll(context: string): void {
    this.#taxpayers.get(context)?.steps.clear()
  }

  /** How often a step has reported a reason since its taxpayer has trouble. */
  failures(context: string, step: WaitingStep): number {
    return this.#taxpayers.get(context)?.failures[step] ?? 0
  }

  /** Why the steps of a taxpayer wait now. */
  reasons(context: string): StoredReasons | undefined {
    const steps = [...(this.#taxpayers.get(context)?.steps ?? [])]
    return steps.length === 0
      ? undefined
      : Object.fromEntries(
          steps.map(([step, { reason, until }]) => [
            step,
            { ...reason, until: new Date(Math.min(until, latest)).toISOString() }
          ])
        )
  }

  /** The last leases of the taxpayers that have trouble. */
  leases(): ReadonlyArray<Lease> {
    return [...this.#taxpayers].flatMap(([context, { fencingToken, steps }]) =>
      steps.size > 0 ? [{ context, fencingToken }] : []
    )
  }

  /** This process has claimed the lane. It goes on with what the last holder has stored, of which nothing is to be logged. */
  hold({ fencingToken, context }: Lease, stored: StoredReasons | undefined, now: number): void {
    const taxpayer = this.#taxpayers.get(context) ?? newTaxpayer(fencingToken)
    taxpayer.fencingToken = fencingToken
    for (const step of ["send", "verdicts"] as const) {
      const reason = stored?.[step]
      if (reason === undefined || taxpayer.steps.has(step)) continue
      const { code, message } = reason
      const until = Date.parse(reason.until)
      if (until > now) taxpayer.steps.set(step, { reason: { code, message }, until, isRoutine: true })
    }
    if (taxpayer.steps.size > 0) this.#taxpayers.set(context, taxpayer)
  }

  /** Another process has had the lane since, and knows better. Returns the trouble, where it was logged. */
  handOver(context: string): TroubleRecord | undefined {
    const taxpayer = this.#taxpayers.get(context)
    this.#taxpayers.delete(context)
    return taxpayer?.isLogged === true ? taxpayer.record : undefined
  }

  /** Returns the troubles that began and ended since this was last called. One that did both is in neither. */
  takeChanges(): { readonly begun: ReadonlyArray<TroubleRecord>; readonly ended: ReadonlyArray<TroubleRecord> } {
    const begun: Array<TroubleRecord> = []
    const ended: Array<TroubleRecord> = []
    for (const [context, taxpayer] of this.#taxpayers) {
      const { isLogged, record, steps } = taxpayer
      if (steps.size === 0) {
        this.#taxpayers.delete(context)
        if (isLogged && record !== undefined) ended.push(record)
      } else if (!isLogged && record !== undefined) {
        taxpayer.isLogged = true
        begun.push(record)
      }
    }
    return { begun, ended }
  }
}
