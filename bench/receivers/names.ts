/** Preloaded into the processes of the benchmark: names that end in `.receivers.test` are at 127.0.0.1. */
// The namespace of a module cannot be changed; its default export can.
import dns from "node:dns"

const isOurs = (hostname: unknown): boolean => typeof hostname === "string" && hostname.endsWith(".receivers.test")

type Call = (this: unknown, hostname: string, ...rest: Array<unknown>) => unknown

const replace = (target: object, name: string, made: (original: Call) => Call): void => {
  Reflect.set(target, name, made(Reflect.get(target, name) as Call))
}

// For peers: `net.connect` looks names up with it.
replace(
  dns,
  "lookup",
  (original) =>
    function (hostname, ...rest) {
      if (!isOurs(hostname)) return Reflect.apply(original, this, [hostname, ...rest])
      const answer = rest.at(-1) as (...given: Array<unknown>) => void
      const [options] = rest
      const all = typeof options === "object" && options !== null && "all" in options && options.all === true
      queueMicrotask(() => (all ? answer(null, [{ address: "127.0.0.1", family: 4 }]) : answer(null, "127.0.0.1", 4)))
      return {}
    }
)

// For the dispatcher, which asks name servers.
const resolver = dns.promises.Resolver.prototype
const resolveTo = (name: string, answer: ReadonlyArray<string>): void =>
  replace(
    resolver,
    name,
    (original) =>
      function (hostname, ...rest) {
        if (!isOurs(hostname)) return Reflect.apply(original, this, [hostname, ...rest])
        return Promise.resolve(answer)
      }
  )
resolveTo("resolve4", ["127.0.0.1"])
resolveTo("resolve6", [])
