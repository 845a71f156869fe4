/** Reads the connection URL of a Postgres. */
import { readFileSync } from "node:fs"
import { isLoopback } from "./loopback.ts"

const sslModes: ReadonlyArray<string> = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]

/** Which sessions are accepted, as in libpq: those of any server, or of one that accepts writes. */
const sessionAttributes = ["any", "primary", "read-write"] as const

type SessionAttributes = (typeof sessionAttributes)[number]

/** The address of a server. */
export interface PostgresHost {
  readonly host: string
  readonly port: number
}

/** Where a URL leads to, without the password. */
export interface PostgresTarget {
  /** The servers, in the order in which they are tried: one, unless `sessionAttributes` chooses among them. */
  readonly hosts: ReadonlyArray<PostgresHost>
  readonly sessionAttributes: SessionAttributes
  readonly database: string
  readonly user: string
  /** Whether connections stay on this machine. */
  readonly isLocal: boolean
  /** The mode of the URL. Its default is `disable` on this machine, and `verify-full` elsewhere. */
  readonly sslMode: string
}

/** The fault of a part of a URL, as the rest of a sentence that begins with the name of the setting. */
class UrlFault extends Error {}

const form =
  "must be a URL of the form postgres://user:password@host:port/database, with special characters percent-encoded"

/** Splits a URL into one of its first host, and the hosts. A list of hosts is no URL by the standard. */
const split = (text: string) => {
  const [before, scheme, hosts = ""] = /^(\w+:\/\/(?:[^/?#@]*@)?)([^/?#]*)/.exec(text) ?? [""]
  const authorities = hosts.split(",")
  return {
    url: new URL(authorities.length > 1 ? `${scheme}${authorities[0]}${text.slice(before.length)}` : text),
    authorities: authorities.map((authority) => new URL(`postgres://${authority}`))
  }
}

/** The hosts of a URL. As in libpq, there is one port for all of them, or one for each. */
const hostsOf = (url: URL, authorities: ReadonlyArray<URL>): ReadonlyArray<PostgresHost> => {
  const hosts =
    url.searchParams.get("host")?.split(",") ??
    authorities.map(({ hostname }) => decodeURIComponent(hostname.replace(/^\[(.*)\]$/, "$1")))
  const ports = url.searchParams.get("port")?.split(",") ?? authorities.map(({ port }) => port)
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new UrlFault(`must have one port, or one for each of its ${hosts.length} hosts`)
  }
  return hosts.map((host, index) => {
    const port = Number(ports.at(ports.length === 1 ? 0 : index) || "5432")
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new UrlFault("must have ports from 1 to 65535")
    return { host: host || "localhost", port }
  })
}

const sessionAttributesOf = (url: URL, hosts: ReadonlyArray<PostgresHost>): SessionAttributes => {
  const given = url.searchParams.get("target_session_attrs")
  if (given === null && hosts.length > 1) {
    throw new UrlFault(
      "has several hosts, and must end in target_session_attrs=read-write, so that writes find the primary"
    )
  }
  const found = sessionAttributes.find((value) => value === (given ?? "any"))
  if (found === undefined) throw new UrlFault(`must have a target_session_attrs among: ${sessionAttributes.join(", ")}`)
  return found
}

/**
 * Reads the target of a URL. Parameters win over the other parts, as they do in libpq.
 *
 * @throws when it is not one.
 */
export const targetOf = (text: string): PostgresTarget => {
  const { authorities, url } = split(text)
  const { pathname, searchParams, username } = url
  const or = (name: string, part: string): string => searchParams.get(name) ?? decodeURIComponent(part)
  const hosts = hostsOf(url, authorities)
  const user = or("user", username) || (process.env["USER"] ?? "")
  const isLocal = hosts.every(({ host }) => host.startsWith("/") || isLoopback(host))
  return {
    hosts,
    sessionAttributes: sessionAttributesOf(url, hosts),
    user,
    database: or("dbname", pathname.slice(1)) || user,
    isLocal,
    sslMode: searchParams.get("sslmode") ?? (isLocal ? "disable" : "verify-full")
  }
}

/** Names the hosts and ports of a target. */
export const describeHosts = ({ hosts }: PostgresTarget): string =>
  hosts.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`).join(", ")

/** The URL without the parameters that name hosts. The driver is given these apart. */
export const withoutHosts = (text: string): string => {
  const { url } = split(text)
  url.searchParams.delete("host")
  url.searchParams.delete("port")
  return url.href
}

/**
 * Reads the certificate authorities that `sslrootcert` names, in PEM. They replace those of Node.
 *
 * @throws the error of the file system when the file cannot be read.
 */
export const rootCertificatesOf = (text: string): string | undefined => {
  const file = split(text).url.searchParams.get("sslrootcert")
  return file === null || file === "system" ? undefined : readFileSync(file, "utf8")
}

/** Returns the fault of a URL, as the rest of a sentence that begins with its name, or `undefined`. */
export const faultOf = (text: string): string | undefined => {
  try {
    if (!sslModes.includes(targetOf(text).sslMode)) return `must have an sslmode among: ${sslModes.join(", ")}`
    if (!/^postgres(?:ql)?:/.test(text)) return "must be a URL that begins with postgres:// or postgresql://"
  } catch (error) {
    return error instanceof UrlFault ? error.message : form
  }
  try {
    rootCertificatesOf(text)
    return undefined
  } catch (error) {
    return `names a file in sslrootcert that cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`
  }
}
