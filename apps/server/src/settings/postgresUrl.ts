/** Reads the connection URL of a Postgres. */
import { readFileSync } from "node:fs"

const sslModes: ReadonlyArray<string> = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]

/** Where a URL leads to, without the password. */
export interface PostgresTarget {
  readonly host: string
  readonly port: string
  readonly database: string
  readonly user: string
  /** Whether connections stay on this machine. */
  readonly isLocal: boolean
  /** The mode of the URL. Its default is `disable` on this machine, and `verify-full` elsewhere. */
  readonly sslMode: string
}

const isLoopback = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host)

/** Reads the target of a URL. Parameters win over the other parts, as they do in libpq. */
export const targetOf = (text: string): PostgresTarget => {
  const { hostname, pathname, port, searchParams, username } = new URL(text)
  const or = (name: string, part: string): string => searchParams.get(name) ?? decodeURIComponent(part)
  const host = or("host", hostname) || "localhost"
  const user = or("user", username) || (process.env["USER"] ?? "")
  const isLocal = host.startsWith("/") || isLoopback(host)
  return {
    host,
    port: or("port", port) || "5432",
    user,
    database: or("dbname", pathname.slice(1)) || user,
    isLocal,
    sslMode: searchParams.get("sslmode") ?? (isLocal ? "disable" : "verify-full")
  }
}

/**
 * Reads the certificate authorities that `sslrootcert` names, in PEM. They replace those of Node.
 *
 * @throws the error of the file system when the file cannot be read.
 */
export const rootCertificatesOf = (text: string): string | undefined => {
  const file = new URL(text).searchParams.get("sslrootcert")
  return file === null || file === "system" ? undefined : readFileSync(file, "utf8")
}

/** Returns the fault of a URL, as the rest of a sentence that begins with its name, or `undefined`. */
export const faultOf = (text: string): string | undefined => {
  try {
    if (!sslModes.includes(targetOf(text).sslMode)) return `must have an sslmode among: ${sslModes.join(", ")}`
  } catch {
    return "must be a URL of the form postgres://user:password@host:port/database, with special characters percent-encoded"
  }
  try {
    rootCertificatesOf(text)
    return undefined
  } catch (error) {
    return `names a file in sslrootcert that cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`
  }
}
