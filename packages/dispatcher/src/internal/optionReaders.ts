/**
 * Reads networks, ports, NAT64 prefixes and the proxy from untyped values.
 *
 * A fault never contains the value: options can come from settings that hold secrets.
 */
import { type Network, readNetwork } from "./address.ts"

/**
 * The value of an option, or the reason why it cannot be read.
 *
 * `fault` continues a sentence that begins with the name of the option: "must list networks ...".
 *
 * @category models
 * @since 0.1.0
 */
export type Parsed<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly fault: string }

const parsed = <A>(value: A): Parsed<A> => ({ ok: true, value })

const refused = (fault: string): Parsed<never> => ({ ok: false, fault })

/** Reads every entry. `read` returns the value of an entry, or the fault of the list with the entry left open. */
const entriesOf = <A>(
  what: string,
  entries: unknown,
  read: (entry: unknown) => A | string
): Parsed<ReadonlyArray<Exclude<A, string>>> => {
  if (!Array.isArray(entries)) return refused(`must be a list of ${what}`)
  const values: Array<Exclude<A, string>> = []
  for (const [index, entry] of entries.entries()) {
    const value = read(entry)
    if (typeof value === "string") return refused(`must list ${what}; entry ${index + 1} ${value}`)
    values.push(value as Exclude<A, string>)
  }
  return parsed(values)
}

const hostBits = "has bits set after its prefix (write 10.0.0.0/8 or 10.1.2.3, not 10.1.2.3/8)"

export const readNetworks = (entries: unknown): Parsed<ReadonlyArray<Network>> =>
  entriesOf("networks in CIDR notation, such as 10.0.0.0/8 or fd00::/8", entries, (entry) => {
    const network = typeof entry === "string" ? readNetwork(entry) : "unreadable"
    return network === "unreadable" ? "is not one" : network === "host-bits" ? hostBits : network
  })

const translationPrefixes: ReadonlyArray<number> = [32, 40, 48, 56, 64, 96]

export const readNat64Prefixes = (entries: unknown): Parsed<ReadonlyArray<Network>> =>
  entriesOf("IPv6 prefixes of 32, 40, 48, 56, 64 or 96 bits, such as 2001:db8:64::/96", entries, (entry) => {
    const network = typeof entry === "string" ? readNetwork(entry) : "unreadable"
    if (network === "host-bits") return hostBits
    return network !== "unreadable" && network.base.family === 6 && translationPrefixes.includes(network.prefix)
      ? network
      : "is not one"
  })

const ports = "ports from 0 to 65535"

export const readPorts = (entries: unknown): Parsed<ReadonlyArray<number>> =>
  entriesOf(ports, entries, (entry) =>
    typeof entry === "number" && Number.isInteger(entry) && entry >= 0 && entry <= 65_535 ? entry : "is not one"
  )

/** Reads ports that are written as decimal digits. */
export const readPortTexts = (entries: unknown): Parsed<ReadonlyArray<number>> =>
  Array.isArray(entries)
    ? readPorts(entries.map((entry) => (/^(?:0|[1-9]\d{0,4})$/.test(String(entry)) ? Number(entry) : undefined)))
    : readPorts(entries)

/** A forward proxy. */
export interface Proxy {
  readonly host: string
  readonly port: number
  readonly authorization: string | undefined
}

export const readProxy = (text: unknown): Parsed<Proxy> => {
  const url = typeof text === "string" ? URL.parse(text) : null
  if (url?.protocol !== "http:" || url.hostname === "" || url.pathname + url.search + url.hash !== "/") {
    return refused("must be a URL of the form http://user:password@host:port, without a path")
  }
  const { hostname, password, port, username } = url
  const credentials = [username, password].map(unescape).join(":")
  return parsed({
    host: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: port === "" ? 80 : Number(port),
    authorization: credentials === ":" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`
  })
}

/** Decodes percent-encoded octets, and keeps a percent sign that begins none. */
const unescape = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => Buffer.from(escaped.replaceAll("%", ""), "hex").toString())
