/**
 * Ways to look a name up.
 *
 * @since 0.1.0
 */
import * as dns from "node:dns"
import { codeError, codeOf } from "./internal/classify.ts"
import type { Resolve } from "./Options.ts"

/**
 * Settings of `resolveWithDns`.
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
   * How long to wait for the first answer of a server, in milliseconds.
   *
   * @default 1_500
   */
  readonly timeoutMs?: number | undefined
  /**
   * How often each server is asked.
   *
   * @default 2
   */
  readonly tries?: number | undefined
}

/**
 * Asks name servers for A and AAAA records, and nobody else. The default.
 *
 * **Details**
 *
 * Uses c-ares: no thread is held while a server does not answer, so that a name whose servers hang delays no other name.
 * The hosts file, search domains and mDNS are not consulted. IPv4 and IPv6 alternate in the answer, IPv4 first; where one
 * of the two cannot be had, or comes more than half a second after the other, the other is enough.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resolveWithDns = (options: DnsOptions = {}): Resolve => {
  const resolver = new dns.promises.Resolver({ timeout: options.timeoutMs ?? 1_500, tries: options.tries ?? 2 })
  if (options.servers !== undefined) resolver.setServers(options.servers)
  return async (hostname) => {
    const [four, six] = await inTime(resolver.resolve4(hostname), resolver.resolve6(hostname))
    if (four.status === "rejected" && six.status === "rejected") {
      // The failure that may pass is the one worth telling.
      throw codeOf(four.reason) === "ENODATA" ? six.reason : four.reason
    }
    return alternate(four.status === "fulfilled" ? four.value : [], six.status === "fulfilled" ? six.value : [])
  }
}

/** How long one family is waited for when the other was answered, in milliseconds. */
const graceMs = 500

type Answer = Promise<ReadonlyArray<string>>

// Servers that drop what they are asked in AAAA are common. Waiting for all tries would take longer than many deadlines.
const inTime = async (four: Answer, six: Answer) => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const wait = () => {
      timer ??= setTimeout(reject, graceMs, codeError("ETIMEOUT", "The other family was answered, this one was not"))
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
 * Asks the operating system, with its hosts file, search domains and whatever else it is set up to use.
 *
 * **When to use**
 *
 * Use when receivers are found by something other than DNS, such as a hosts file.
 *
 * **Gotchas**
 *
 * A lookup that hangs holds one of the few threads that Node has for them (`UV_THREADPOOL_SIZE`, of which lookups get
 * half). Whoever can register a name with servers that never answer can then slow the delivery to everybody else.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resolveWithSystem = (): Resolve => async (hostname) => {
  const answers = await dns.promises.lookup(hostname, { all: true, order: "verbatim" })
  return answers.map(({ address }) => address)
}
