/** Parses a URL once and judges its parts. Nothing after this reads the text of the URL again. */
import type { Rule } from "../Rule.ts"
import { type Address, format, parse } from "./address.ts"
import { judge, judgeText, type Policy } from "./policy.ts"
import { metadataNames } from "./registry.ts"

export interface ParsedUrl {
  readonly secure: boolean
  /** A name in lowercase ASCII without a trailing dot, or a canonical address without brackets. */
  readonly hostname: string
  readonly port: number
  /** Scheme, host and port as they are sent: `https://[2001:db8::1]:8443`. */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  /** The addresses of a host that is not looked up. */
  readonly addresses: ReadonlyArray<string> | undefined
}

const maxLength = 8_192

/** The parts of a URL that is allowed, or the rule that refuses it. */
export const parseUrl = (input: unknown, policy: Policy): ParsedUrl | Rule => {
  const url = read(input)
  if (url === undefined) return "url"
  const secure = url.protocol === "https:"
  if (!secure && !(policy.allowHttp && url.protocol === "http:")) return "scheme"
  if (url.username !== "" || url.password !== "") return "userinfo"
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port)
  if (port === 0 || policy.denyPorts.has(port) || policy.allowPorts?.has(port) === false) return "port"

  const parsed = (hostname: string, authority: string, addresses: ReadonlyArray<string> | undefined): ParsedUrl => ({
    secure,
    hostname,
    port,
    origin: `${url.protocol}//${authority}${url.port === "" ? "" : `:${port}`}`,
    path: url.pathname + url.search,
    addresses
  })

  const host = url.hostname
  const bracketed = host.startsWith("[")
  const literal = parse(bracketed ? host.slice(1, -1) : host)
  if (literal !== undefined) {
    const judged = judgeText(policy, bracketed ? host.slice(1, -1) : host)
    if (typeof judged === "string") return judged
    return parsed(format(literal), host, [format(judged)])
  }
  if (bracketed) return "host"
  const name = host.endsWith(".") ? host.slice(0, -1) : host
  if (!isName(name)) return "host"
  if (isMetadata(name)) return "metadata"
  if (name === "localhost" || name.endsWith(".localhost")) {
    const allowed = loopback.filter((address) => judge(policy, address) === undefined)
    return allowed.length === 0 ? "loopback" : parsed(name, name, allowed.map(format))
  }
  return parsed(name, name, undefined)
}

const read = (input: unknown): URL | undefined => {
  const text = input instanceof URL ? input.href : input
  if (typeof text !== "string" || text.length > maxLength) return undefined
  return URL.parse(text) ?? undefined
}

// RFC 6761 §6.3: these names are the machine itself and are never looked up.
const loopback: ReadonlyArray<Address> = ["127.0.0.1", "::1"].flatMap((text) => parse(text) ?? [])

const label = /^(?!xn--(?:$|-))[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * Whether a name is valid in DNS (RFC 1035 §2.3.4), with the underscores that occur in practice.
 *
 * The last label must not be a number: many programs read such a name as an address
 * (https://url.spec.whatwg.org/#ends-in-a-number-checker).
 */
const isName = (name: string): boolean => {
  if (name.length > 253) return false
  const labels = name.split(".")
  return labels.every((part) => label.test(part)) && !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!)
}

const metadata = metadataNames.map((name) => ({ name, below: `.${name}` }))

const isMetadata = (host: string): boolean => metadata.some(({ below, name }) => host === name || host.endsWith(below))
