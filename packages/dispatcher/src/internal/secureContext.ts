/** The TLS settings of a dispatcher. */
import { constants, X509Certificate } from "node:crypto"
import * as tls from "node:tls"
import { DispatcherError } from "../DispatcherError.ts"
import type { TlsOptions } from "../Options.ts"

/**
 * The receiver chooses the key exchange among those that are offered.
 *
 * Finite-field Diffie-Hellman is not: a receiver with a prime of 10,000 bits blocks the event loop for seconds in each handshake,
 * before its certificate is checked. Nor is renegotiation, by which one connection can demand any number of handshakes.
 */
const shared = (): tls.SecureContextOptions => ({
  minVersion: "TLSv1.2",
  ciphers: `${tls.DEFAULT_CIPHERS}:!DHE`,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION
})

export const secureContext = (options: TlsOptions | undefined): tls.SecureContext => {
  if (options !== undefined && (typeof options !== "object" || options === null)) {
    throw new DispatcherError("invalid_options", "tls must be an object")
  }
  const ca = options?.ca
  if (ca === undefined) return tls.createSecureContext(shared())
  try {
    const entries: ReadonlyArray<string | Uint8Array> = typeof ca === "string" || ca instanceof Uint8Array ? [ca] : ca
    const bundles = entries.map((entry) => (typeof entry === "string" ? entry : Buffer.from(entry).toString("latin1")))
    // Node ignores what it cannot parse, and would then trust no authority.
    for (const bundle of bundles) check(bundle)
    if (bundles.length === 0) throw new TypeError("There is no certificate")
    return tls.createSecureContext({ ...shared(), ca: bundles })
  } catch (cause) {
    throw new DispatcherError("invalid_options", "tls.ca must be a certificate in PEM, or a list of them", { cause })
  }
}

const check = (bundle: string): void => {
  const certificates = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (certificates === null) throw new TypeError("There is no certificate")
  for (const certificate of certificates) void new X509Certificate(certificate)
}
