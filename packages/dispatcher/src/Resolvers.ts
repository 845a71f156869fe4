/**
 * Resolvers for host names.
 *
 * @since 0.1.0
 */
import * as dns from "node:dns"
import { codeError, codeOf } from "./internal/classify.ts"
import { nameServers, queryAddresses, systemServers } from "./internal/dnsQuery.ts"
import { rejectUnknown } from "./internal/unknownOptions.ts"
import type { Resolve } from "./Options.ts"

/**
 * Options of `resolveWithDns`.
 *
 * @category models
 * @since 0.1.0
 */
export interface DnsOptions {
  /**
   * Name servers, as `address` or `address:port`.
   *
   * @default those of the system
   */
  readonly servers?: ReadonlyArray<string> | undefined
  /**
   * How long to wait for the first answer of a name server, in milliseconds.
   *
   * @default 1_500
   */
  readonly timeoutMs?: number | undefined
  /**
   * How many times each name server is asked.
   *
   * @default 2
   */
  readonly tries?: number | undefined
}

const dnsOptions: ReadonlyArray<keyof DnsOptions> = ["servers", "timeoutMs", "tries"]

/**
 * Returns a resolver that asks name servers for A and AAAA records. The default.
 *
 * **Details**
 *
 * Asks by UDP, and occupies no thread while it waits: a name whose servers hang delays no other name. An answer has up to
 * 1,232 bytes, which is about 70 addresses; of a name with more, those that came are used. The hosts file, search domains and
 * mDNS are not consulted. IPv4 and IPv6 alternate in the answer, IPv4 first. If one family fails, or is
 * answered more than half a second after the other, the answer contains the other alone.
 *
 * @throws {TypeError} for an option that does not exist.
 * @category constructors
 * @since 0.1.0
 */
export const resolveWithDns = (options: DnsOptions = {}): Resolve => {
  rejectUnknown(options, dnsOptions, "")
  const given = options.servers === undefined ? undefined : nameServers(options.servers)
  const servers = given === undefined ? systemServers() : () => given
  const { timeoutMs = 1_500, tries = 2 } = options
  return async (hostname, lookup) => {
    const asked = { servers: servers(), timeoutMs, tries, isAbandoned: () => lookup.signal.aborted }
    const [four, six] = await withinGrace(queryAddresses(hostname, "A", asked), queryAddresses(hostname, "AAAA", asked))
    if (four.status === "rejected" && six.status === "rejected") {
      // A transient failure tells more than the absence of records.
      throw codeOf(four.reason) === "ENODATA" ? six.reason : four.reason
    }
    return alternate(four.status === "fulfilled" ? four.value : [], six.status === "fulfilled" ? six.value : [])
  }
}

/** How long to wait for one family after the other was answered, in milliseconds. */
const graceMs = 500

type Answer = Promise<ReadonlyArray<string>>

// Many name servers drop AAAA queries. All tries would take longer than many deadlines.
const withinGrace = async (four: Answer, six: Answer) => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const wait = () => {
      timer ??= setTimeout(
        reject,
        graceMs,
        codeError("ETIMEOUT", "The name servers answered one address family and not the other")
      )
    }
    four.then(wait, () => {})
    six.then(wait, () => {})
  })
  try {
    return await Promise.allSettled([Promise.race([four, late]), Promise.race([six, late])])
  } finally {
    clearTimeout(timer)
  }
}

const alternate = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [left[index], right[index]])
    .flat()
    .filter((address) => address !== undefined)

/**
 * Returns a resolver that asks the operating system, which uses its hosts file, search domains and other sources.
 *
 * **When to use**
 *
 * Use when receivers are not in DNS but, for example, in a hosts file.
 *
 * **Gotchas**
 *
 * A lookup that hangs occupies one of the few threads that Node has for lookups (half of `UV_THREADPOOL_SIZE`). A receiver
 * whose name servers never answer can delay the requests to all others.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resolveWithSystem = (): Resolve => async (hostname) => {
  const answers = await dns.promises.lookup(hostname, { all: true, order: "verbatim" })
  return answers.map(({ address }) => address)
}
