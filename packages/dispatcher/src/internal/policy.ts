/** The policy of a dispatcher, read once, and the judgement of addresses by it. */
import { DispatcherError } from "../DispatcherError.ts"
import type { Rule } from "../Guard.ts"
import type { PolicyOptions } from "../Options.ts"
import { type Address, contains, type Ipv4, type Ipv6, ipv4At, ipv4Behind, type Network } from "./address.ts"
import { parse, parseNetwork } from "./address.ts"
import * as registry from "./registry.ts"

export interface Policy {
  readonly allowHttp: boolean
  readonly allowPorts: ReadonlySet<number> | undefined
  readonly denyPorts: ReadonlySet<number>
  readonly allow: ReadonlyArray<Network>
  readonly deny: ReadonlyArray<Network>
  readonly nat64: ReadonlyArray<Network>
}

/** Reads the options, or throws a `DispatcherError` that names the one that cannot be read. */
export const compile = (options: PolicyOptions): Policy => ({
  allowHttp: boolean("allowHttp", options.allowHttp) ?? false,
  allowPorts: ports("allowPorts", options.allowPorts),
  denyPorts: ports("denyPorts", options.denyPorts) ?? new Set(),
  allow: networks("allowNetworks", options.allowNetworks),
  deny: networks("denyNetworks", options.denyNetworks),
  nat64: [fixed(registry.wellKnownNat64), ...list("nat64Prefixes", options.nat64Prefixes).map(translationPrefix)]
})

const invalid = (message: string) => new DispatcherError("invalid_options", message)

const boolean = (name: string, value: unknown): boolean | undefined => {
  if (value !== undefined && typeof value !== "boolean") throw invalid(`${name} is not a boolean`)
  return value
}

const list = <A>(name: string, value: ReadonlyArray<A> | undefined): ReadonlyArray<A> => {
  if (value === undefined) return []
  const isList: boolean = Array.isArray(value)
  if (!isList) throw invalid(`${name} is not a list`)
  return value
}

const ports = (name: string, value: ReadonlyArray<number> | undefined): ReadonlySet<number> | undefined => {
  for (const port of list(name, value)) {
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw invalid(`${name} has an entry that is not a port`)
  }
  return value === undefined ? undefined : new Set(value)
}

const network = (name: string, text: unknown): Network => {
  const parsed = typeof text === "string" ? parseNetwork(text) : undefined
  if (parsed === undefined)
    throw invalid(`${name} has an entry that is not a network: write 10.0.0.0/8, not 10.1.2.3/8`)
  return parsed
}

// A network written in the mapped form also means the IPv4 network it maps. `::ffff:0:0/96` itself does not: it would be
// all of IPv4, where its writer meant a form of address.
const networks = (name: string, texts: ReadonlyArray<string> | undefined): ReadonlyArray<Network> =>
  list(name, texts).flatMap((text) => {
    const written = network(name, text)
    return written.base.family === 6 && written.prefix > 96 && contains(mapped, written.base)
      ? [written, { base: ipv4At(written.base, 6), prefix: written.prefix - 96 }]
      : [written]
  })

const translationPrefix = (text: string): Network => {
  const prefix = network("nat64Prefixes", text)
  if (prefix.base.family === 4 || ![32, 40, 48, 56, 64, 96].includes(prefix.prefix)) {
    throw invalid("nat64Prefixes has an entry that is not an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits")
  }
  return prefix
}

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
  return judge(policy, address) ?? plain(address)
}

/** An IPv4 address for one in the mapped form, so that both share their connections. */
const plain = (address: Address): Address =>
  address.family === 6 && contains(mapped, address) ? ipv4At(address, 6) : address

/** The rule that refuses an address, or `undefined` when it may be connected to. */
export const judge = (policy: Policy, address: Address): Rule | undefined =>
  address.family === 4 ? judgeIpv4(policy, address) : judgeIpv6(policy, address)

const judgeIpv4 = (policy: Policy, address: Ipv4): Rule | undefined =>
  forbidden(policy, address) ?? (within(policy.allow, address) ? undefined : ruleOf(ipv4Blocks, address))

const judgeIpv6 = (policy: Policy, address: Ipv6): Rule | undefined => {
  const refused = forbidden(policy, address)
  if (refused !== undefined) return refused
  // What is never opened for IPv4 stays shut in every form it can be wrapped in.
  for (const inner of carried(policy, address)) {
    const rule = forbidden(policy, inner)
    if (rule !== undefined) return rule
  }
  // Before what is allowed in IPv6: it is IPv4 that is connected to.
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

/** Every IPv4 address that an IPv6 address carries in one of the forms of a transition mechanism. */
const carried = (policy: Policy, address: Ipv6): ReadonlyArray<Ipv4> => {
  const found: Array<Ipv4> = []
  if (contains(mapped, address) || contains(compatible, address) || contains(translated, address)) {
    found.push(ipv4At(address, 6))
  }
  for (const prefix of policy.nat64) {
    if (contains(prefix, address)) found.push(ipv4Behind(address, prefix.prefix))
  }
  if (contains(sixToFour, address)) found.push(ipv4At(address, 1))
  if (contains(teredo, address)) {
    // The server in the clear, the client with every bit inverted (RFC 4380 §4).
    found.push(ipv4At(address, 2), { family: 4, value: ~ipv4At(address, 6).value >>> 0 })
  }
  if (isIsatap(address)) found.push(ipv4At(address, 6))
  return found
}

/** An interface identifier of `[02]00:5efe` and an IPv4 address (RFC 5214 §6.1). */
const isIsatap = ({ groups }: Ipv6): boolean => groups[5] === 0x5efe && (groups[4] === 0 || groups[4] === 0x200)
