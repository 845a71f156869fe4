/**
 * The options of a client.
 *
 * @since 0.1.0
 */
import { X509Certificate } from "node:crypto"
import { OptionParsers } from "@govoice/dispatcher"
import type { Environment } from "./Environment.ts"
import { type Resolve, resolveWithSystem } from "./lookup.ts"

/**
 * The options of a client.
 *
 * **Details**
 *
 * - `userAgent`: `Govoice/<version>`. Keep it stable: the firewall of KSeF distrusts new clients.
 * - `ca`: certificates in PEM to trust in place of the system's, for a custom environment.
 * - `proxy`: a forward proxy for every call, as `http://user:password@host:port`. It receives `CONNECT` with the name of the
 *   host, which it looks up. TLS runs inside of the tunnel.
 * - `timeoutMs`: the deadline of a call, 20 s by default; `uploadTimeoutMs`: of the upload of a part, 60 s.
 * - `resolve`: looks a host name up; by default the system does.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  readonly environment: Environment
  readonly userAgent: string
  readonly ca?: string | undefined
  readonly proxy?: string | undefined
  readonly timeoutMs?: number | undefined
  readonly uploadTimeoutMs?: number | undefined
  readonly resolve?: Resolve | undefined
}

/** The options with their defaults. */
export interface ResolvedOptions {
  readonly environment: Environment
  readonly userAgent: string
  readonly ca: string | undefined
  readonly proxy: string | undefined
  readonly timeoutMs: number
  readonly uploadTimeoutMs: number
  readonly resolve: Resolve
}

/** Adds the defaults, and throws a `TypeError` where certificates or the proxy cannot be read: Node would ignore the former. */
export const resolveOptions = (options: Options): ResolvedOptions => {
  const { ca, environment, proxy, resolve, timeoutMs, uploadTimeoutMs, userAgent } = options
  if (ca !== undefined) checkCertificates(ca)
  const read = proxy === undefined ? undefined : OptionParsers.proxy(proxy)
  if (read?.ok === false) throw new TypeError(`proxy ${read.fault}`)
  return {
    environment,
    userAgent,
    ca,
    proxy,
    timeoutMs: timeoutMs ?? 20_000,
    uploadTimeoutMs: uploadTimeoutMs ?? 60_000,
    resolve: resolve ?? resolveWithSystem
  }
}

const checkCertificates = (ca: string): void => {
  const certificates = ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (certificates === null) throw new TypeError("Expected certificates in PEM, found none.")
  for (const certificate of certificates) {
    try {
      void new X509Certificate(certificate)
    } catch {
      throw new TypeError("Expected certificates in PEM, found one that cannot be read.")
    }
  }
}
