/**
 * The judgement of URLs, kept for those that were asked for last.
 *
 * What a URL says does not change, and the policy of a dispatcher neither, so the text of an endpoint is read once. Where
 * a name points to is no part of it: that is looked up and judged for every attempt.
 */
import type { Rule } from "../Guard.ts"
import type { Policy } from "./policy.ts"
import { parseTarget, type Target } from "./url.ts"

/** How many judgements are kept, and of how long texts, in characters. */
const maxKept = 1_000
const maxLength = 2_048

export class Urls {
  readonly #policy: Policy
  readonly #judged = new Map<string, Target | Rule>()

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** The parts of a URL that passed, or the rule that refuses it. */
  judge(input: unknown): Target | Rule {
    if (typeof input !== "string" || input.length > maxLength) return parseTarget(input, this.#policy)
    const known = this.#judged.get(input)
    if (known !== undefined) return known
    const judged = parseTarget(input, this.#policy)
    // A map keeps the order in which it was filled: the first has been there for longest.
    const [first] = this.#judged.keys()
    if (this.#judged.size >= maxKept && first !== undefined) this.#judged.delete(first)
    this.#judged.set(input, judged)
    return judged
  }
}
