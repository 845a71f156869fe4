/**
 * The special-purpose addresses of the Internet.
 *
 * All data that the guard has about addresses is in this file. Sources, last changed on 2025-10-09 and compared on 2026-11-20:
 *
 * - IANA IPv4 Special-Purpose Address Registry (RFC 6890, RFC 8190)
 * - IANA IPv6 Special-Purpose Address Registry
 * - IANA IPv6 Address Space and IPv6 Global Unicast Address Assignments (RFC 4291)
 * - IANA IPv4 Multicast Address Space (RFC 5771)
 *
 * IPv4 has a list of refused blocks, because nearly all of it is assigned. IPv6 has one allowed block, because nearly all of it
 * is unassigned: a block that is reserved in the future is refused already.
 */

/** A block of addresses in CIDR notation and the rule that refuses it. */
export type Block = readonly [cidr: string, rule: AddressRule]

/** The rule that refuses an address outside of the public Internet. */
export type AddressRule =
  | "this-network"
  | "private"
  | "shared"
  | "loopback"
  | "link-local"
  | "protocol-assignments"
  | "documentation"
  | "deprecated-relay"
  | "benchmarking"
  | "multicast"
  | "reserved"
  | "broadcast"
  | "unspecified"
  | "ipv4-compatible"
  | "ipv4-translated"
  | "local-nat64"
  | "discard"
  | "dummy"
  | "segment-routing"
  | "unique-local"
  | "site-local"
  | "teredo"
  | "orchid"
  | "6to4"
  | "not-global-unicast"

/**
 * IPv4 blocks that are refused. The first match names the rule, so a block comes after the smaller blocks inside of it.
 *
 * The registry lists 192.0.0.9/32 and 192.0.0.10/32 (port control and TURN anycast) as reachable. Neither receives webhooks, so
 * 192.0.0.0/24 is refused as a whole, as is 192.88.99.0/24, which is deprecated.
 */
export const ipv4Blocks: ReadonlyArray<Block> = [
  ["0.0.0.0/32", "unspecified"], // RFC 1122 §3.2.1.3
  ["0.0.0.0/8", "this-network"], // RFC 791 §3.2
  ["10.0.0.0/8", "private"], // RFC 1918
  ["100.64.0.0/10", "shared"], // RFC 6598
  ["127.0.0.0/8", "loopback"], // RFC 1122 §3.2.1.3
  ["169.254.0.0/16", "link-local"], // RFC 3927
  ["172.16.0.0/12", "private"], // RFC 1918
  ["192.0.0.0/24", "protocol-assignments"], // RFC 6890 §2.1
  ["192.0.2.0/24", "documentation"], // RFC 5737
  ["192.88.99.0/24", "deprecated-relay"], // RFC 7526
  ["192.168.0.0/16", "private"], // RFC 1918
  ["198.18.0.0/15", "benchmarking"], // RFC 2544
  ["198.51.100.0/24", "documentation"], // RFC 5737
  ["203.0.113.0/24", "documentation"], // RFC 5737
  ["224.0.0.0/4", "multicast"], // RFC 5771
  ["255.255.255.255/32", "broadcast"], // RFC 919
  ["240.0.0.0/4", "reserved"] // RFC 1112 §4
]

/** The only IPv6 block that IANA assigns as global unicast. All other addresses are refused. */
export const ipv6GlobalUnicast = "2000::/3"

/**
 * IPv6 blocks that are refused. Blocks outside of `2000::/3` are refused in any case and are listed for their names.
 *
 * The registry lists parts of 2001::/23 as reachable (2001:1::1 to 2001:1::3, 2001:3::/32, 2001:4:112::/48, 2001:20::/28,
 * 2001:30::/28). They are anycast services and identifiers and receive no webhooks.
 */
export const ipv6Blocks: ReadonlyArray<Block> = [
  ["::/128", "unspecified"], // RFC 4291 §2.5.2
  ["::1/128", "loopback"], // RFC 4291 §2.5.3
  ["::/96", "ipv4-compatible"], // RFC 4291 §2.5.5.1, deprecated
  ["::ffff:0:0:0/96", "ipv4-translated"], // RFC 2765, RFC 7915
  ["64:ff9b:1::/48", "local-nat64"], // RFC 8215
  ["100::/64", "discard"], // RFC 6666
  ["100:0:0:1::/64", "dummy"], // RFC 9780
  ["2001::/32", "teredo"], // RFC 4380
  ["2001:2::/48", "benchmarking"], // RFC 5180
  ["2001:10::/28", "orchid"], // RFC 4843, deprecated
  ["2001:20::/28", "orchid"], // RFC 7343
  ["2001::/23", "protocol-assignments"], // RFC 2928
  ["2001:db8::/32", "documentation"], // RFC 3849
  ["2002::/16", "6to4"], // RFC 3056
  ["3fff::/20", "documentation"], // RFC 9637
  ["5f00::/16", "segment-routing"], // RFC 9602
  ["fc00::/7", "unique-local"], // RFC 4193
  ["fe80::/10", "link-local"], // RFC 4291 §2.5.6
  ["fec0::/10", "site-local"], // RFC 3879, deprecated
  ["ff00::/8", "multicast"] // RFC 4291 §2.7
]

/** IPv6 addresses that stand for IPv4 addresses, and are judged as those (RFC 4291 §2.5.5.2). */
export const ipv4Mapped = "::ffff:0:0/96"

/** The prefix of addresses that NAT64 translates to the IPv4 address at their end, which is judged (RFC 6052 §2.1). */
export const wellKnownNat64 = "64:ff9b::/96"

/**
 * Addresses where cloud platforms serve credentials without authentication. `allowNetworks` does not allow them.
 *
 * All but 168.63.129.16 are inside of refused blocks. Listed here, they stay refused where an operator allows such a block.
 */
export const metadataAddresses: ReadonlyArray<string> = [
  "169.254.169.254", // Amazon EC2, Google Cloud, Azure, DigitalOcean, OpenStack, Oracle Cloud
  "169.254.170.2", // Amazon ECS task credentials
  "169.254.170.23", // Amazon EKS Pod Identity
  "168.63.129.16", // Azure host endpoint, a public address
  "100.100.100.200", // Alibaba Cloud
  "192.0.0.192", // Oracle Cloud classic
  "fd00:ec2::254", // Amazon EC2
  "fd00:ec2::23", // Amazon EKS Pod Identity
  "fd20:ce::254" // Google Cloud
]

/** Names of the same services. They and their subdomains are refused before a lookup. */
export const metadataNames: ReadonlyArray<string> = [
  "metadata",
  "metadata.goog",
  "metadata.google.internal",
  "metadata.azure.internal",
  "metadata.platformequinix.com",
  "instance-data",
  "instance-data.ec2.internal"
]

/**
 * Ports that browsers refuse for HTTP, because the server of another protocol could execute a request.
 *
 * **When to use**
 *
 * Use as `denyPorts` when receivers are expected on ports of the web. By default only port 0 is refused.
 *
 * **Details**
 *
 * The "bad ports" of the Fetch standard (https://fetch.spec.whatwg.org/#port-blocking) as of 2026-11-20.
 *
 * @category constants
 * @since 0.1.0
 */
// oxfmt-ignore
export const badPorts: ReadonlyArray<number> = [
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540,
  548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
  6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080
]
