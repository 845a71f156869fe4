/**
 * Judges where a request may go.
 *
 * A URL is parsed once and judged from its parts; an address is judged by its bits. Nothing here resolves a name or
 * opens a connection: the dispatcher asks `judgeUrl` before it looks a name up, and `judgeAddress` about every answer.
 *
 * @since 0.1.0
 */
import * as policy from "./internal/policy.ts"
import type { AddressRule } from "./internal/registry.ts"
import { parseTarget } from "./internal/url.ts"
import type { PolicyOptions } from "./Options.ts"

export { badPorts } from "./internal/registry.ts"

/**
 * Names the rule that refused a target.
 *
 * What `judgeUrl` says follows from the URL alone and is safe to show to whoever chose it. The rule of a `Blocked` outcome is
 * not: it can come from what the name points to, and where names of your network are looked up it would tell them apart.
 *
 * **Details**
 *
 * - `url`: not a URL that can be read, or longer than 8,192 characters.
 * - `scheme`: neither `https:` nor, where `allowHttp` is set, `http:`.
 * - `userinfo`: a user name or password in the URL.
 * - `host`: not a host name that can be looked up.
 * - `port`: port 0, or one that `allowPorts` or `denyPorts` exclude.
 * - `metadata`: a name or an address of a cloud metadata service.
 * - `denied-network`: inside of `denyNetworks`.
 * - `unreadable-address`: an answer of the resolver that is no address, or one with a zone.
 * - `isatap`: an ISATAP address (RFC 5214) around an IPv4 address that is refused.
 * - `peer-address`: the connection ended at another address than the one it was opened to.
 * - the rest name a block of the IANA registries, such as `private` or `loopback`; `not-global-unicast` is an IPv6
 *   address outside of `2000::/3`.
 *
 * @category models
 * @since 0.1.0
 */
export type Rule =
  | "url"
  | "scheme"
  | "userinfo"
  | "host"
  | "port"
  | "metadata"
  | "denied-network"
  | "unreadable-address"
  | "isatap"
  | "peer-address"
  | AddressRule

/**
 * What the guard says of a URL or an address.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = { readonly ok: true } | { readonly ok: false; readonly rule: Rule }

const ok: Verdict = { ok: true }

/**
 * Judges all of a URL that can be judged without looking its name up.
 *
 * **When to use**
 *
 * Use when a URL is stored, so that a typing mistake or an attempt is refused early. It does not replace the check before
 * each request, which `send` makes by itself: what a name points to can change at any time.
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
 * @throws {DispatcherError} `invalid_options` when an option cannot be read. No `url` makes it throw.
 * @category guards
 * @since 0.1.0
 */
export const judgeUrl = (url: string | URL, options: PolicyOptions = {}): Verdict => {
  const target = parseTarget(url, policy.compile(options))
  return typeof target === "string" ? { ok: false, rule: target } : ok
}

/**
 * Judges an IP address in text form.
 *
 * **Details**
 *
 * Only strict forms are read: `127.1`, `0x7f.0.0.1`, `010.0.0.1` and `fe80::1%eth0` are `unreadable-address`.
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
 * @throws {DispatcherError} `invalid_options` when an option cannot be read. No `address` makes it throw.
 * @category guards
 * @since 0.1.0
 */
export const judgeAddress = (address: string, options: PolicyOptions = {}): Verdict => {
  const judged = policy.judgeText(policy.compile(options), address)
  return typeof judged === "string" ? { ok: false, rule: judged } : ok
}
