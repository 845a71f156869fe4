/**
 * Judges whether a request may be sent to a URL or an address.
 *
 * A URL is judged by its parts, an address by its bits. Nothing here looks a name up or opens a connection: the dispatcher
 * judges the URL before a lookup, and every address of the answer after it.
 *
 * @since 0.1.0
 */
import * as policy from "./internal/policy.ts"
import { parseUrl } from "./internal/url.ts"
import type { PolicyOptions } from "./Options.ts"
import type { Rule } from "./Rule.ts"

export { badPorts } from "./internal/registry.ts"
export type { Rule } from "./Rule.ts"

/**
 * Whether a URL or an address is allowed, and the rule that refuses it.
 *
 * @category models
 * @since 0.1.0
 */
export type GuardVerdict = { readonly ok: true } | { readonly ok: false; readonly rule: Rule }

const ok: GuardVerdict = { ok: true }

/**
 * Judges everything about a URL that does not need a lookup.
 *
 * **When to use**
 *
 * Use when a URL is stored, so that a typing mistake or an attack is refused early. It does not replace the check before
 * each request, which `send` makes by itself: the addresses of a name can change at any time.
 *
 * **Example** (Refusing an endpoint)
 *
 * ```ts import.meta.vitest
 * import { judgeUrl } from "@govoice/dispatcher"
 *
 * judgeUrl("https://example.com/hook") // => { ok: true }
 * judgeUrl("https://[::ffff:127.0.0.1]/") // => { ok: false, rule: "loopback" }
 * judgeUrl("http://example.com/") // => { ok: false, rule: "scheme" }
 * ```
 *
 * @throws {DispatcherError} `invalid_options` for an option with an invalid value. No `url` makes it throw.
 * @throws {TypeError} for an option that does not exist.
 * @category guards
 * @since 0.1.0
 */
export const judgeUrl = (url: string | URL, options: PolicyOptions = {}): GuardVerdict => {
  const parsed = parseUrl(url, policy.compile(options))
  return typeof parsed === "string" ? { ok: false, rule: parsed } : ok
}

/**
 * Judges an IP address in text form.
 *
 * **Details**
 *
 * Only strict forms are accepted: `127.1`, `0x7f.0.0.1`, `010.0.0.1` and `fe80::1%eth0` are `unreadable-address`.
 *
 * **Example** (Judging an address)
 *
 * ```ts import.meta.vitest
 * import { judgeAddress } from "@govoice/dispatcher"
 *
 * judgeAddress("93.184.215.14") // => { ok: true }
 * judgeAddress("64:ff9b::a00:1") // => { ok: false, rule: "private" }
 * judgeAddress("10.2.3.4", { allowNetworks: ["10.2.0.0/16"] }) // => { ok: true }
 * ```
 *
 * @throws {DispatcherError} `invalid_options` for an option with an invalid value. No `address` makes it throw.
 * @throws {TypeError} for an option that does not exist.
 * @category guards
 * @since 0.1.0
 */
export const judgeAddress = (address: string, options: PolicyOptions = {}): GuardVerdict => {
  const judged = policy.judgeText(policy.compile(options), address)
  return typeof judged === "string" ? { ok: false, rule: judged } : ok
}
