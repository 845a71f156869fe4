/**
 * IP addresses and networks as numbers.
 *
 * Addresses are compared by value and never by spelling. The parser accepts the strict forms of RFC 6943 alone: four decimal
 * octets without leading zeros, or the text form of RFC 4291 §2.2 without a zone.
 */

/** An IPv4 address as an unsigned integer of 32 bits. */
export interface Ipv4 {
  readonly family: 4
  readonly value: number
}

/** An IPv6 address as its eight groups of 16 bits. */
export interface Ipv6 {
  readonly family: 6
  readonly groups: ReadonlyArray<number>
}

export type Address = Ipv4 | Ipv6

/** The addresses that share the first `prefix` bits with `base`. */
export interface Network {
  readonly base: Address
  readonly prefix: number
}

export const ipv4 = (value: number): Ipv4 => ({ family: 4, value: value >>> 0 })

/** Reads an address, or returns `undefined` for any text that is not exactly one. */
export const parse = (text: string): Address | undefined => {
  if (text.length > 45) return undefined
  if (text.includes(":")) {
    const groups = parseIpv6(text)
    return groups === undefined ? undefined : { family: 6, groups }
  }
  const value = parseIpv4(text)
  return value === undefined ? undefined : { family: 4, value }
}

const parseIpv4 = (text: string): number | undefined => {
  let value = 0
  let octet = -1
  let octets = 0
  for (let index = 0; index <= text.length; index++) {
    const code = index === text.length ? 46 : text.charCodeAt(index)
    if (code === 46) {
      if (octet < 0 || octets === 4) return undefined
      value = value * 256 + octet
      octets++
      octet = -1
    } else if (code >= 48 && code <= 57) {
      // A leading zero means octal to some readers and nothing to others.
      if (octet === 0) return undefined
      octet = octet < 0 ? code - 48 : octet * 10 + code - 48
      if (octet > 255) return undefined
    } else {
      return undefined
    }
  }
  return octets === 4 ? value : undefined
}

const parseIpv6 = (text: string): ReadonlyArray<number> | undefined => {
  const gap = text.indexOf("::")
  if (gap === -1) {
    const groups = parseGroups(text, true)
    return groups?.length === 8 ? groups : undefined
  }
  const tail = text.slice(gap + 2)
  const head = gap === 0 ? [] : parseGroups(text.slice(0, gap), false)
  const rest = tail === "" ? [] : parseGroups(tail, true)
  if (head === undefined || rest === undefined || head.length + rest.length > 7) return undefined
  return [...head, ...Array.from({ length: 8 - head.length - rest.length }, () => 0), ...rest]
}

const group = /^[0-9a-fA-F]{1,4}$/

const parseGroups = (text: string, mayEndInIpv4: boolean): Array<number> | undefined => {
  const parts = text.split(":")
  const groups: Array<number> = []
  for (const [index, part] of parts.entries()) {
    if (group.test(part)) {
      groups.push(Number.parseInt(part, 16))
      continue
    }
    const value = mayEndInIpv4 && index === parts.length - 1 ? parseIpv4(part) : undefined
    if (value === undefined) return undefined
    groups.push(Math.floor(value / 0x10000), value % 0x10000)
  }
  return groups
}

/** Writes an address in its one canonical form (RFC 5952), so that equal addresses are equal strings. */
export const format = (address: Address): string => {
  if (address.family === 4) {
    const { value } = address
    return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
  }
  const { groups } = address
  let start = -1
  let length = 1
  for (let index = 0; index < 8; index++) {
    let end = index
    while (end < 8 && groups[end] === 0) end++
    if (end - index > length) {
      start = index
      length = end - index
    }
    if (end > index) index = end
  }
  const write = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map((value) => value.toString(16))
      .join(":")
  return start === -1 ? write(0, 8) : `${write(0, start)}::${write(start + length, 8)}`
}

/** Reads a network in CIDR notation, or returns `undefined`. A bare address is a network of one. */
export const parseNetwork = (text: string): Network | undefined => {
  const network = readNetwork(text)
  return typeof network === "string" ? undefined : network
}

/** Reads a network like `parseNetwork`, and returns the reason where the text is not one. */
export const readNetwork = (text: string): Network | "unreadable" | "host-bits" => {
  const slash = text.indexOf("/")
  const base = parse(slash === -1 ? text : text.slice(0, slash))
  if (base === undefined) return "unreadable"
  const width = base.family === 4 ? 32 : 128
  if (slash === -1) return { base, prefix: width }
  const digits = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(digits)) return "unreadable"
  const prefix = Number(digits)
  if (prefix > width) return "unreadable"
  const network = { base, prefix }
  return format(firstOf(network)) === format(base) ? network : "host-bits"
}

/** Writes a network in its one canonical form, with its prefix. */
export const formatNetwork = ({ base, prefix }: Network): string => `${format(base)}/${prefix}`

const firstOf = ({ base, prefix }: Network): Address =>
  base.family === 4
    ? ipv4(base.value & mask32(prefix))
    : { family: 6, groups: base.groups.map((value, index) => value & mask16(prefix - index * 16)) }

const mask32 = (prefix: number): number => (prefix === 0 ? 0 : -1 << (32 - prefix))

const mask16 = (bits: number): number => (bits <= 0 ? 0 : bits >= 16 ? 0xffff : (0xffff << (16 - bits)) & 0xffff)

/** Whether `address` is written in the family of `network` and lies inside of it. */
export const contains = ({ base, prefix }: Network, address: Address): boolean => {
  if (base.family === 4) {
    return address.family === 4 && ((base.value ^ address.value) & mask32(prefix)) === 0
  }
  if (address.family === 4) return false
  for (let index = 0; index * 16 < prefix; index++) {
    const mask = mask16(prefix - index * 16)
    if (((base.groups[index]! ^ address.groups[index]!) & mask) !== 0) return false
  }
  return true
}

/** The IPv4 address in the two groups that begin at `index`. */
export const ipv4At = ({ groups }: Ipv6, index: number): Ipv4 => ipv4(groups[index]! * 0x10000 + groups[index + 1]!)

/** The IPv4 address behind a translation prefix of one of the six lengths of RFC 6052 §2.2. */
export const ipv4Behind = ({ groups }: Ipv6, prefix: number): Ipv4 => {
  const octets = groups.flatMap((value) => [value >>> 8, value & 255])
  // The octet at 64 to 71 bits is reserved and skipped.
  const [a = 0, b = 0, c = 0, d = 0] = octets.filter((_, index) => index !== 8 || prefix === 96).slice(prefix / 8)
  return ipv4(a * 0x1000000 + b * 0x10000 + c * 0x100 + d)
}
