/**
 * Parsed and judged URLs, kept for those that were asked for last.
 *
 * The text of a URL and the policy of a dispatcher do not change, so the URL of an endpoint is parsed once. The addresses
 * of its name are not part of it: they are looked up and judged for every attempt.
 */
import type { Rule } from "../Rule.ts"
import type { Policy } from "./policy.ts"
import { type ParsedUrl, parseUrl } from "./url.ts"

/** How many URLs are kept, and up to which length, in characters. */
const maxKept = 1_000
const maxLength = 2_048

export class UrlCache {
  readonly #policy: Policy
  readonly #judged = new Map<string, ParsedUrl | Rule>()

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** The parts of a URL that is allowed, or the rule that refuses it. */
  judge(input: unknown): ParsedUrl | Rule {
    if (typeof input !== "string" || input.length > maxLength) return parseUrl(input, this.#policy)
    const known = this.#judged.get(input)
    if (known !== undefined) return known
    const judged = parseUrl(input, this.#policy)
    // A map keeps the order of insertion, so the first entry is the oldest.
    const [oldest] = this.#judged.keys()
    if (this.#judged.size >= maxKept && oldest !== undefined) this.#judged.delete(oldest)
    this.#judged.set(input, judged)
    return judged
  }
}
