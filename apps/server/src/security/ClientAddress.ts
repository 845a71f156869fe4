/**
 * Whose address it is. What a client says of itself in headers does not count: only where the connection comes from.
 *
 * @since 0.1.0
 */

const mapped = /^::ffff:(?=\d+\.)/i

// `::` stands for as many groups of zeros as are missing.
const firstGroups = (address: string): string => {
  const [head = "", tail] = address.split("%", 1)[0]!.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0")
  return [...left, ...zeros, ...right].slice(0, 4).join(":")
}

/**
 * The addresses that count as one client: an IPv4 address alone, an IPv6 address with its network of 64 bits, since a
 * single subscriber is given all of that.
 *
 * @category getters
 * @since 0.1.0
 */
export const group = (address: string | undefined): string => {
  if (address === undefined) return "unknown"
  const plain = address.replace(mapped, "")
  return plain.includes(":") ? `${firstGroups(plain.toLowerCase())}::/64` : plain
}
