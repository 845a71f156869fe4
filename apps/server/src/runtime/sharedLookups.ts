/**
 * Looks a name up once for all that wait for it: Postgres, Redis, mail, KSeF, the collector of traces, and other
 * cells.
 *
 * Half of the threads of libuv may look names up in the system (`getaddrinfo`). A lookup that hangs, because the servers of a name are
 * silent, has one of them for many seconds: those who try again would take the others, too, and with them the lookups of all
 * other names. A process asks for some names; there is a thread for each.
 */
import dns from "node:dns"

type Options = dns.LookupOptions | number
type Callback = (
  error: NodeJS.ErrnoException | null,
  address: string | Array<dns.LookupAddress>,
  family: number
) => void
type Lookup = (hostname: string, options: Options, callback: Callback) => void

const share = (lookup: Lookup): Lookup => {
  const waiting = new Map<string, Array<Callback>>()
  return (hostname, options, callback) => {
    const question = JSON.stringify([hostname, options])
    const others = waiting.get(question)
    if (others !== undefined) return void others.push(callback)
    const callbacks = [callback]
    lookup(hostname, options, (...answer: Parameters<Callback>) => {
      waiting.delete(question)
      for (const one of callbacks) process.nextTick(one, ...answer)
    })
    // Afterwards: Node throws if an argument is invalid, and never answers at once.
    waiting.set(question, callbacks)
  }
}

const threads = "16"

/** Lets all sockets of this process look names up like this. Call it before anything uses the threads, whose number is fixed by then. */
export const install = (): void => {
  process.env["UV_THREADPOOL_SIZE"] ??= threads
  const shared = share(dns.lookup as Lookup)
  // The type of Node also has a form for `util.promisify`, which no socket uses.
  dns.lookup = ((hostname: string, options: Options | Callback, callback: Callback) =>
    typeof options === "function" ? shared(hostname, {}, options) : shared(hostname, options, callback)) as never
}
