/**
 * The rules by which the guard refuses.
 *
 * @since 0.1.0
 */
import type { AddressRule } from "./internal/registry.ts"

/**
 * Names the rule that refused a URL or an address.
 *
 * The rule that `judgeUrl` returns depends on the URL alone and is safe to show to the person who entered it. The rule of a
 * `Blocked` outcome is not: it can depend on DNS answers and reveal which names of your network exist.
 *
 * **Details**
 *
 * - `url`: not a valid URL, or longer than 8,192 characters.
 * - `scheme`: neither `https:` nor, where `allowHttp` is set, `http:`.
 * - `userinfo`: a user name or password in the URL.
 * - `host`: not a valid host name.
 * - `port`: port 0, or one that `allowPorts` or `denyPorts` exclude.
 * - `metadata`: a name or an address of a cloud metadata service.
 * - `denied-network`: inside of `denyNetworks`.
 * - `unreadable-address`: an answer of the resolver that is not an address, or one with a zone.
 * - `isatap`: an ISATAP address (RFC 5214) with an IPv4 address that is refused.
 * - `peer-address`: the connection was made to another address than the judged one.
 * - The others name a block of the IANA registries, such as `private` or `loopback`; `not-global-unicast` is an IPv6
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
