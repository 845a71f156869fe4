/**
 * Looks up host names, one lookup at a time for each name.
 *
 * Every attempt looks its name up. Attempts that ask for a name during its lookup share the answer. Answers are not cached. The
 * deadline of each attempt limits how long it waits.
 */
import type { Rule } from "../Rule.ts"
import type { Resolve } from "../Options.ts"
import { format } from "./address.ts"
import { codeOf } from "./classify.ts"
import type { Instruments } from "./instruments.ts"
import { judgeText, type Policy } from "./policy.ts"

export type Answer =
  | { readonly _tag: "Addresses"; readonly addresses: ReadonlyArray<string> }
  | { readonly _tag: "Blocked"; readonly rule: Rule }
  | { readonly _tag: "Failed"; readonly code: string }

type Waiter = (answer: Answer) => void

/** How old a lookup may be that an attempt joins, in milliseconds. For an older one, which hangs, a new one begins. */
const maxAgeMs = 5_000

/** How many addresses an answer may have. To judge thousands for each attempt would block the event loop. */
const maxAnswers = 256

class Lookup {
  readonly startedAt = performance.now()
  readonly waiters = new Set<Waiter>()
  ended = false
  #controller: AbortController | undefined

  /** Created on access, because few resolvers use it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.ended) this.#controller.abort()
    return this.#controller.signal
  }

  end(): void {
    this.ended = true
    this.#controller?.abort()
  }
}

export class Lookups {
  readonly #resolve: Resolve
  readonly #policy: Policy
  readonly #instruments: Instruments
  /** Not a `Map`, whose old tables keep waiters alive: see `List`. */
  readonly #lookups: Record<string, Lookup | undefined> = Object.create(null) as Record<string, never>

  constructor(resolve: Resolve, policy: Policy, instruments: Instruments) {
    this.#resolve = resolve
    this.#policy = policy
    this.#instruments = instruments
  }

  /** Calls `waiter` with the answer, never before this returns. The result cancels the wait. */
  join(hostname: string, waiter: Waiter): () => void {
    const current = this.#lookups[hostname]
    const lookup =
      current === undefined || performance.now() - current.startedAt > maxAgeMs ? this.#begin(hostname) : current
    lookup.waiters.add(waiter)
    return () => {
      if (lookup.waiters.delete(waiter) && lookup.waiters.size === 0) this.#end(hostname, lookup)
    }
  }

  #begin(hostname: string): Lookup {
    const lookup = new Lookup()
    this.#lookups[hostname] = lookup
    this.#instruments.adjust("lookups", 1)
    const settle = (answer: Answer) => {
      if (lookup.ended) return
      this.#end(hostname, lookup)
      for (const waiter of lookup.waiters) waiter(answer)
    }
    this.#ask(hostname, lookup).then(settle, (error: unknown) => settle({ _tag: "Failed", code: codeOf(error) }))
    return lookup
  }

  // Async, so that an exception of the resolver is a rejection.
  async #ask(hostname: string, lookup: Lookup): Promise<Answer> {
    const options = {
      get signal() {
        return lookup.signal
      }
    }
    return judgeAnswers(this.#policy, await this.#resolve(hostname, options))
  }

  #end(hostname: string, lookup: Lookup): void {
    if (lookup.ended) return
    lookup.end()
    this.#instruments.adjust("lookups", -1)
    if (this.#lookups[hostname] === lookup) delete this.#lookups[hostname]
  }
}

/** Every address must be allowed: a name with a public and a private address is an attack or a mistake. */
const judgeAnswers = (policy: Policy, answers: unknown): Answer => {
  if (!Array.isArray(answers) || answers.length === 0) return { _tag: "Failed", code: "ENODATA" }
  if (answers.length > maxAnswers) return { _tag: "Failed", code: "GOVOICE_TOO_MANY_ANSWERS" }
  const addresses = new Set<string>()
  for (const answer of answers) {
    const judged = judgeText(policy, answer)
    if (typeof judged === "string") return { _tag: "Blocked", rule: judged }
    addresses.add(format(judged))
  }
  return { _tag: "Addresses", addresses: [...addresses] }
}
