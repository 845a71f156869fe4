/**
 * Looks names up, once at a time for each.
 *
 * Every attempt asks. Those that ask for a name while an answer to it is awaited share that answer; none is kept.
 */
import type { Resolve } from "../Options.ts"
import type { Rule } from "../Guard.ts"
import { format } from "./address.ts"
import { codeOf } from "./classify.ts"
import type { Instruments } from "./instruments.ts"
import { judgeText, type Policy } from "./policy.ts"

export type Answer =
  | { readonly _tag: "Addresses"; readonly addresses: ReadonlyArray<string> }
  | { readonly _tag: "Refused"; readonly rule: Rule }
  | { readonly _tag: "Failed"; readonly code: string }

type Waiter = (answer: Answer) => void

interface Lookup {
  readonly waiters: Set<Waiter>
  readonly controller: AbortController
  timer: NodeJS.Timeout | undefined
}

/** How long one lookup may take, whatever the resolver does. */
const lookupTimeoutMs = 8_000

export class Lookups {
  readonly #resolve: Resolve
  readonly #policy: Policy
  readonly #instruments: Instruments
  readonly #lookups = new Map<string, Lookup>()

  constructor(resolve: Resolve, policy: Policy, instruments: Instruments) {
    this.#resolve = resolve
    this.#policy = policy
    this.#instruments = instruments
  }

  /** Calls `waiter` with the answer, never before this returns. The result leaves without one. */
  join(hostname: string, waiter: Waiter): () => void {
    const lookup = this.#lookups.get(hostname) ?? this.#begin(hostname)
    lookup.waiters.add(waiter)
    return () => {
      lookup.waiters.delete(waiter)
      if (lookup.waiters.size === 0 && this.#lookups.get(hostname) === lookup) {
        this.#end(hostname, lookup)
        lookup.controller.abort()
      }
    }
  }

  #begin(hostname: string): Lookup {
    const lookup: Lookup = { waiters: new Set(), controller: new AbortController(), timer: undefined }
    this.#lookups.set(hostname, lookup)
    this.#instruments.move("lookups", 1)
    const settle = (answer: Answer) => {
      if (this.#lookups.get(hostname) !== lookup) return
      this.#end(hostname, lookup)
      for (const waiter of lookup.waiters) waiter(answer)
    }
    lookup.timer = setTimeout(() => {
      settle({ _tag: "Failed", code: "ETIMEOUT" })
      lookup.controller.abort()
    }, lookupTimeoutMs)
    this.#ask(hostname, lookup.controller.signal).then(settle, (error: unknown) =>
      settle({ _tag: "Failed", code: codeOf(error) })
    )
    return lookup
  }

  // Being async it also turns what a resolver throws at once into a rejection.
  async #ask(hostname: string, signal: AbortSignal): Promise<Answer> {
    return judgeAnswers(this.#policy, await this.#resolve(hostname, { signal }))
  }

  #end(hostname: string, lookup: Lookup): void {
    this.#lookups.delete(hostname)
    this.#instruments.move("lookups", -1)
    clearTimeout(lookup.timer)
  }
}

/** All of them have to pass: a name that points to a public and to a private address is an attack, or a mistake. */
const judgeAnswers = (policy: Policy, answers: unknown): Answer => {
  if (!Array.isArray(answers) || answers.length === 0) return { _tag: "Failed", code: "ENODATA" }
  const addresses = new Set<string>()
  for (const answer of answers) {
    const judged = judgeText(policy, answer)
    if (typeof judged === "string") return { _tag: "Refused", rule: judged }
    addresses.add(format(judged))
  }
  return { _tag: "Addresses", addresses: [...addresses] }
}
