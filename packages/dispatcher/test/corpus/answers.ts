/**
 * DNS answers of successive attempts, and the expected end of each attempt.
 *
 * Run against real servers on 127.0.0.1 and 127.0.0.2 with `allowNetworks: ["127.0.0.0/8"]`. `reached` names the server
 * that received the request; for every other end no socket may be opened.
 */
import type { Rule } from "@govoice/dispatcher"

export interface Step {
  /** The value that the resolver returns, of any type. `Error` objects are thrown. */
  readonly answer: unknown
  readonly expected: { readonly reached: string } | { readonly blocked: Rule } | "dns"
}

export interface Sequence {
  readonly name: string
  readonly reason: string
  readonly steps: ReadonlyArray<Step>
}

const one = "127.0.0.1"
const two = "127.0.0.2"
const blocked = (answer: unknown, rule: Rule): Step => ({ answer, expected: { blocked: rule } })
const reached = (answer: unknown, address = one): Step => ({ answer, expected: { reached: address } })
const failed = (answer: unknown): Step => ({ answer, expected: "dns" })
const sequence = (name: string, reason: string, ...steps: ReadonlyArray<Step>): Sequence => ({ name, reason, steps })

const coded = (code: string) => Object.assign(new Error(code), { code })

export const answers: ReadonlyArray<Sequence> = [
  sequence("a private address", "the plain case", blocked(["10.0.0.1"], "private")),
  sequence(
    "good, then bad",
    "the first passes and the second may not be ignored",
    blocked([one, "10.0.0.1"], "private")
  ),
  sequence("bad, then good", "nor the first skipped", blocked(["10.0.0.1", one], "private")),
  sequence(
    "public and private",
    "as in an attack that hopes for the second",
    blocked(["8.8.8.8", "10.0.0.1"], "private")
  ),
  sequence("good IPv4, bad IPv6", "both families count", blocked([one, "fd00::1"], "unique-local")),
  sequence("good IPv4, mapped private", "in whatever form", blocked([one, "::ffff:10.0.0.1"], "private")),
  sequence("good IPv4, NAT64 private", "in whatever form", blocked([one, "64:ff9b::a00:1"], "private")),
  sequence("good IPv4, 6to4", "in whatever form", blocked([one, "2002:7f00:1::"], "6to4")),
  sequence("good IPv4, Teredo", "in whatever form", blocked([one, "2001::1"], "teredo")),
  sequence("good IPv4, link-local with a zone", "cannot be read", blocked([one, "fe80::1%eth0"], "unreadable-address")),
  sequence("good IPv4, link-local", "some resolvers drop it silently", blocked([one, "fe80::1"], "link-local")),
  sequence("good, then metadata", "the reason for most of this", blocked([one, "169.254.169.254"], "metadata")),
  sequence("good, then unreadable", "not knowing is not passing", blocked([one, "127.1"], "unreadable-address")),
  sequence("good, then a name", "it would be looked up again", blocked([one, "localhost"], "unreadable-address")),
  sequence("good, then a number", "an answer that is no text", blocked([one, 2_130_706_433], "unreadable-address")),
  sequence("good, then null", "an answer that is nothing", blocked([one, null], "unreadable-address")),
  sequence("good, then an object", "the shape of another API", blocked([one, { address: one }], "unreadable-address")),
  sequence("good, then empty text", "an answer that is empty", blocked([one, ""], "unreadable-address")),
  sequence("good with spaces", "text around an address", blocked([` ${one} `], "unreadable-address")),
  sequence(
    "a hundred good, the last bad",
    "all are judged",
    blocked([...Array.from({ length: 100 }, (_, index) => `127.0.1.${index + 1}`), "10.0.0.1"], "private")
  ),
  sequence("nothing", "an empty answer is a failed lookup", failed([])),
  sequence("undefined", "a resolver that forgot to answer", failed(undefined)),
  sequence("a string for a list", "its characters are no answers", failed(one)),
  sequence("ENOTFOUND", "there is no such name", failed(coded("ENOTFOUND"))),
  sequence("ENODATA", "there is no address", failed(coded("ENODATA"))),
  sequence("ESERVFAIL", "the server failed", failed(coded("ESERVFAIL"))),
  sequence("ETIMEOUT", "the server did not answer", failed(coded("ETIMEOUT"))),
  sequence("EREFUSED", "the server will not answer", failed(coded("EREFUSED"))),
  sequence("EAI_AGAIN", "the system says to try again", failed(coded("EAI_AGAIN"))),
  sequence("something thrown", "that is not even an error", failed("a string")),
  sequence("rebinding", "good when looked at, bad when used", reached([one]), blocked(["10.0.0.1"], "private")),
  sequence(
    "rebinding and back",
    "each attempt for itself",
    reached([one]),
    blocked(["169.254.169.254"], "metadata"),
    reached([one])
  ),
  sequence(
    "rebinding to a mixed answer",
    "the warm address is still in it",
    reached([one]),
    blocked([one, "192.168.0.1"], "private")
  ),
  sequence("rebinding to nothing", "the warm connection does not help", reached([one]), failed([])),
  sequence("rebinding to an error", "nor does it here", reached([one]), failed(coded("ENOTFOUND"))),
  sequence("rebinding to unreadable", "nor does it here", reached([one]), blocked(["0"], "unreadable-address")),
  sequence("a move", "the old address is not used once it is not in the answer", reached([one]), reached([two], two)),
  sequence("a move and back", "and is again when it is", reached([one]), reached([two], two), reached([one])),
  sequence(
    "rotation",
    "a warm address that is still in the answer is preferred",
    reached([one, two]),
    reached([two, one]),
    reached([one, two])
  ),
  sequence(
    "a subset",
    "an address that left the answer is left",
    reached([one, two]),
    reached([two], two),
    reached([two, one], two)
  ),
  sequence("mapped good", "the same connection as its IPv4 form", reached(["::ffff:127.0.0.1"]), reached([one])),
  sequence("the same address twice", "is one address", reached([one, one, one])),
  sequence(
    "alternating good and bad",
    "what a name with TTL 0 can do",
    reached([one]),
    blocked(["10.0.0.1"], "private"),
    reached([one]),
    blocked(["::1"], "loopback"),
    reached([one])
  ),
  sequence("failure, then good", "a failed lookup is not kept", failed(coded("ESERVFAIL")), reached([one])),
  sequence("bad, then good next time", "a refusal is not kept", blocked(["10.0.0.1"], "private"), reached([one]))
]
