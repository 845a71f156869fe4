/** The policy of a dispatcher, compiled once, and the judgment of addresses by it. */
import { DispatcherError } from "../DispatcherError.ts"
import type { Rule } from "../Rule.ts"
import type { PolicyOptions } from "../Options.ts"
import {
  type Address,
  contains,
  type Ipv4,
  type Ipv6,
  ipv4At,
  ipv4Behind,
  type Network,
  parse,
  parseNetwork
} from "./address.ts"
import { type Parsed, readNat64Prefixes, readNetworks, readPorts } from "./optionReaders.ts"
import * as registry from "./registry.ts"
import { rejectUnknownDispatcherOptions } from "./unknownOptions.ts"

export interface Policy {
  readonly allowHttp: boolean
  readonly allowPorts: ReadonlySet<number> | undefined
  readonly denyPorts: ReadonlySet<number>
  readonly allow: ReadonlyArray<Network>
  readonly deny: ReadonlyArray<Network>
  readonly nat64: ReadonlyArray<Network>
}

/** Reads the options, or throws an error that names the option at fault. */
export const compile = (options: PolicyOptions): Policy => {
  rejectUnknownDispatcherOptions(options)
  const { allowHttp, allowNetworks = [], allowPorts, denyNetworks = [], denyPorts = [], nat64Prefixes = [] } = options
  if (allowHttp !== undefined && typeof allowHttp !== "boolean") throw invalid("allowHttp must be true or false")
  return {
    allowHttp: allowHttp ?? false,
    allowPorts: allowPorts === undefined ? undefined : new Set(valueOf("allowPorts", readPorts(allowPorts))),
    denyPorts: new Set(valueOf("denyPorts", readPorts(denyPorts))),
    allow: valueOf("allowNetworks", readNetworks(allowNetworks)).flatMap(withMapped),
    deny: valueOf("denyNetworks", readNetworks(denyNetworks)).flatMap(withMapped),
    nat64: [fixed(registry.wellKnownNat64), ...valueOf("nat64Prefixes", readNat64Prefixes(nat64Prefixes))]
  }
}

const invalid = (message: string) => new DispatcherError("invalid_options", message)

/** The value of an option, or an error with the name of the option and the fault. */
export const valueOf = <A>(name: string, parsed: Parsed<A>): A => {
  if (parsed.ok) return parsed.value
  throw invalid(`${name} ${parsed.fault}`)
}

// A network in the mapped form also includes the IPv4 network that it maps. `::ffff:0:0/96` itself does not: it would be all of
// IPv4.
const withMapped = (written: Network): ReadonlyArray<Network> =>
  written.base.family === 6 && written.prefix > 96 && contains(mapped, written.base)
    ? [written, { base: ipv4At(written.base, 6), prefix: written.prefix - 96 }]
    : [written]

const fixed = (cidr: string): Network => parseNetwork(cidr)!

const blocks = (rows: ReadonlyArray<registry.Block>) => rows.map(([cidr, rule]) => ({ network: fixed(cidr), rule }))

const ipv4Blocks = blocks(registry.ipv4Blocks)
const ipv6Blocks = blocks(registry.ipv6Blocks)
const globalUnicast = fixed(registry.ipv6GlobalUnicast)
const mapped = fixed(registry.ipv4Mapped)
const compatible = fixed("::/96")
const translated = fixed("::ffff:0:0:0/96")
const sixToFour = fixed("2002::/16")
const teredo = fixed("2001::/32")
const metadata = registry.metadataAddresses.map(fixed)

/** Judges an answer of a resolver: the rule that refuses it, or the address to connect to. */
export const judgeText = (policy: Policy, text: unknown): Rule | Address => {
  const address = typeof text === "string" ? parse(text) : undefined
  if (address === undefined) return "unreadable-address"
  return judge(policy, address) ?? unmapIpv4(address)
}

/** Returns the IPv4 address for one in the mapped form, so that both share their connections. */
export const unmapIpv4 = (address: Address): Address =>
  address.family === 6 && contains(mapped, address) ? ipv4At(address, 6) : address

/** The rule that refuses an address, or `undefined` when it may be connected to. */
export const judge = (policy: Policy, address: Address): Rule | undefined =>
  address.family === 4 ? judgeIpv4(policy, address) : judgeIpv6(policy, address)

const judgeIpv4 = (policy: Policy, address: Ipv4): Rule | undefined =>
  forbidden(policy, address) ?? (within(policy.allow, address) ? undefined : ruleOf(ipv4Blocks, address))

const judgeIpv6 = (policy: Policy, address: Ipv6): Rule | undefined => {
  const refused = forbidden(policy, address)
  if (refused !== undefined) return refused
  // Networks that are denied for IPv4 are denied in every form that embeds an IPv4 address.
  for (const inner of embeddedIpv4(policy, address)) {
    const rule = forbidden(policy, inner)
    if (rule !== undefined) return rule
  }
  // Before the networks that are allowed in IPv6, because the connection is made over IPv4.
  if (contains(mapped, address)) return judgeIpv4(policy, ipv4At(address, 6))
  if (within(policy.allow, address)) return undefined
  for (const prefix of policy.nat64) {
    if (contains(prefix, address)) return judgeIpv4(policy, ipv4Behind(address, prefix.prefix))
  }
  const rule = ruleOf(ipv6Blocks, address)
  if (rule !== undefined) return rule
  if (!contains(globalUnicast, address)) return "not-global-unicast"
  return isIsatap(address) && judgeIpv4(policy, ipv4At(address, 6)) !== undefined ? "isatap" : undefined
}

const forbidden = (policy: Policy, address: Address): Rule | undefined => {
  if (within(metadata, address)) return "metadata"
  return within(policy.deny, address) ? "denied-network" : undefined
}

const within = (networks: ReadonlyArray<Network>, address: Address): boolean => {
  for (const network of networks) {
    if (contains(network, address)) return true
  }
  return false
}

const ruleOf = (
  rows: ReadonlyArray<{ readonly network: Network; readonly rule: Rule }>,
  address: Address
): Rule | undefined => {
  for (const { network, rule } of rows) {
    if (contains(network, address)) return rule
  }
  return undefined
}

/** Every IPv4 address that is embedded in an IPv6 address by a transition mechanism. */
const embeddedIpv4 = (policy: Policy, address: Ipv6): ReadonlyArray<Ipv4> => {
  const found: Array<Ipv4> = []
  if (contains(mapped, address) || contains(compatible, address) || contains(translated, address)) {
    found.push(ipv4At(address, 6))
  }
  for (const prefix of policy.nat64) {
    if (contains(prefix, address)) found.push(ipv4Behind(address, prefix.prefix))
  }
  if (contains(sixToFour, address)) found.push(ipv4At(address, 1))
  if (contains(teredo, address)) {
    // The server as it is, the client with every bit inverted (RFC 4380 §4).
    found.push(ipv4At(address, 2), { family: 4, value: ~ipv4At(address, 6).value >>> 0 })
  }
  if (isIsatap(address)) found.push(ipv4At(address, 6))
  return found
}

/** An interface identifier of `[02]00:5efe` and an IPv4 address (RFC 5214 §6.1). */
const isIsatap = ({ groups }: Ipv6): boolean => groups[5] === 0x5efe && (groups[4] === 0 || groups[4] === 0x200)
