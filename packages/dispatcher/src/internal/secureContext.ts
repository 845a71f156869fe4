/** What every TLS connection of a dispatcher is made with. */
import { X509Certificate } from "node:crypto"
import * as tls from "node:tls"
import { DispatcherError } from "../DispatcherError.ts"
import type { TlsOptions } from "../Options.ts"

const minVersion = "TLSv1.2"

export const secureContext = (options: TlsOptions | undefined): tls.SecureContext => {
  if (options !== undefined && (typeof options !== "object" || options === null)) {
    throw new DispatcherError("invalid_options", "tls is not an object")
  }
  const ca = options?.ca
  if (ca === undefined) return tls.createSecureContext({ minVersion })
  try {
    const entries: ReadonlyArray<string | Uint8Array> = typeof ca === "string" || ca instanceof Uint8Array ? [ca] : ca
    const bundles = entries.map((entry) => (typeof entry === "string" ? entry : Buffer.from(entry).toString("latin1")))
    // Node passes over what it cannot read, and would then trust nobody without a word.
    for (const bundle of bundles) check(bundle)
    if (bundles.length === 0) throw new TypeError("There is no certificate")
    return tls.createSecureContext({ minVersion, ca: bundles })
  } catch (cause) {
    throw new DispatcherError("invalid_options", "tls.ca is not a certificate in PEM, or a list of those", { cause })
  }
}

const check = (bundle: string): void => {
  const certificates = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (certificates === null) throw new TypeError("There is no certificate")
  for (const certificate of certificates) void new X509Certificate(certificate)
}
