/**
 * Detects the end of logins by token for everybody: KSeF refuses those of several organizations within minutes, and accepts
 * none between them.
 *
 * The rule that allows tokens ends on 2026-12-31, and how KSeF will answer after it is not documented.
 */
const organizationsToTell = 3
const withinMs = 600_000

/** The refusals in a row that are recent enough. */
export type Refusals = ReadonlyMap<string, number>

/** Returns the refusals after another one. */
export const refused = (refusals: Refusals, organizationId: string, now: number): Refusals =>
  new Map([...[...refusals].filter(([, at]) => at > now - withinMs), [organizationId, now]])

/** Tells whether the refusals are about tokens as such. */
export const hasEnded = (refusals: Refusals): boolean => refusals.size >= organizationsToTell

/** The refusals of a process. */
export class TokenLoginSunset {
  #refusals: Refusals = new Map()
  #wasLogged = false

  /** Counts a refusal, and tells whether it is one of tokens as such. */
  refused(organizationId: string, now: number): boolean {
    this.#refusals = refused(this.#refusals, organizationId, now)
    return hasEnded(this.#refusals)
  }

  succeeded(): void {
    this.#refusals = new Map()
    this.#wasLogged = false
  }

  /** Tells whether the end is to be logged: once, until a login succeeds. */
  shouldLog(): boolean {
    const isFirst = !this.#wasLogged
    this.#wasLogged = true
    return isFirst
  }
}
