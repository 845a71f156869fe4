/**
 * Looks names up, once at a time for each.
 *
 * Every attempt asks. Those that ask for a name while an answer to it is awaited share that answer; none is kept. How long
 * somebody waits is up to the deadline of each attempt.
 */
import type { Rule } from "../Guard.ts"
import type { Resolve } from "../Options.ts"
import { format } from "./address.ts"
import { codeOf } from "./classify.ts"
import type { Instruments } from "./instruments.ts"
import { judgeText, type Policy } from "./policy.ts"

export type Answer =
  | { readonly _tag: "Addresses"; readonly addresses: ReadonlyArray<string> }
  | { readonly _tag: "Refused"; readonly rule: Rule }
  | { readonly _tag: "Failed"; readonly code: string }

type Waiter = (answer: Answer) => void

/** How old a lookup may be that somebody joins, in milliseconds. One that hangs is asked again after this. */
const maxAgeMs = 5_000

/** How many addresses an answer may have. Judging thousands for every attempt would keep the program from anything else. */
const maxAnswers = 256

class Lookup {
  readonly startedAt = performance.now()
  readonly waiters = new Set<Waiter>()
  ended = false
  #controller: AbortController | undefined

  /** Made when a resolver asks for it, which few do. */
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
  /** Not a `Map`, whose tables would keep those that waited for them: see `List`. */
  readonly #lookups: Record<string, Lookup | undefined> = Object.create(null) as Record<string, never>

  constructor(resolve: Resolve, policy: Policy, instruments: Instruments) {
    this.#resolve = resolve
    this.#policy = policy
    this.#instruments = instruments
  }

  /** Calls `waiter` with the answer, never before this returns. The result leaves without one. */
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
    this.#instruments.move("lookups", 1)
    const settle = (answer: Answer) => {
      if (lookup.ended) return
      this.#end(hostname, lookup)
      for (const waiter of lookup.waiters) waiter(answer)
    }
    this.#ask(hostname, lookup).then(settle, (error: unknown) => settle({ _tag: "Failed", code: codeOf(error) }))
    return lookup
  }

  // Being async it also turns what a resolver throws at once into a rejection.
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
    this.#instruments.move("lookups", -1)
    if (this.#lookups[hostname] === lookup) delete this.#lookups[hostname]
  }
}

/** All of them have to pass: a name that points to a public and to a private address is an attack, or a mistake. */
const judgeAnswers = (policy: Policy, answers: unknown): Answer => {
  if (!Array.isArray(answers) || answers.length === 0) return { _tag: "Failed", code: "ENODATA" }
  if (answers.length > maxAnswers) return { _tag: "Failed", code: "GOVOICE_TOO_MANY_ANSWERS" }
  const addresses = new Set<string>()
  for (const answer of answers) {
    const judged = judgeText(policy, answer)
    if (typeof judged === "string") return { _tag: "Refused", rule: judged }
    addresses.add(format(judged))
  }
  return { _tag: "Addresses", addresses: [...addresses] }
}
