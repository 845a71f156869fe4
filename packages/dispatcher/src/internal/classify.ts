/** Which failure an error is. One table; what is not in it is decided by how far the attempt came. */
import type { Phase } from "../Options.ts"
import type { FailureReason } from "../Outcome.ts"

/** Codes of Node, OpenSSL and undici. Some arrive in more than one phase, so a phase may overrule them. */
const reasons: Readonly<Record<string, FailureReason>> = {
  // The name system (c-ares and getaddrinfo).
  ENOTFOUND: "dns",
  ENODATA: "dns",
  ESERVFAIL: "dns",
  EREFUSED: "dns",
  EFORMERR: "dns",
  ENOTIMP: "dns",
  EBADRESP: "dns",
  ETIMEOUT: "dns",
  EAI_AGAIN: "dns",
  EAI_FAIL: "dns",
  EAI_NODATA: "dns",
  EAI_NONAME: "dns",

  // No route, or nobody there.
  ECONNREFUSED: "connect",
  EHOSTUNREACH: "connect",
  ENETUNREACH: "connect",
  EHOSTDOWN: "connect",
  ENETDOWN: "connect",
  ETIMEDOUT: "connect",
  EADDRNOTAVAIL: "connect",
  EADDRINUSE: "connect",
  EACCES: "connect",
  EPERM: "connect",
  EMFILE: "connect",
  ENFILE: "connect",
  ENOBUFS: "connect",
  UND_ERR_CONNECT_TIMEOUT: "connect",

  // Certificates that do not check out (every other OpenSSL code begins with ERR_SSL_, ERR_TLS_ or ERR_OSSL_).
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls",
  UNABLE_TO_GET_ISSUER_CERT: "tls",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls",
  SELF_SIGNED_CERT_IN_CHAIN: "tls",
  CERT_HAS_EXPIRED: "tls",
  CERT_NOT_YET_VALID: "tls",
  CERT_REVOKED: "tls",
  CERT_REJECTED: "tls",
  CERT_UNTRUSTED: "tls",
  CERT_CHAIN_TOO_LONG: "tls",
  CERT_SIGNATURE_FAILURE: "tls",
  HOSTNAME_MISMATCH: "tls",
  INVALID_CA: "tls",
  INVALID_PURPOSE: "tls",
  EPROTO: "tls",

  UND_ERR_HEADERS_TIMEOUT: "timeout",

  ECONNRESET: "reset",
  ECONNABORTED: "reset",
  EPIPE: "reset",
  UND_ERR_SOCKET: "reset",

  UND_ERR_HEADERS_OVERFLOW: "protocol",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "protocol",
  UND_ERR_RES_EXCEEDED_MAX_SIZE: "protocol",
  ERR_ASSERTION: "protocol",
  GOVOICE_PROTOCOL: "protocol"
}

/** An error with a code, as those of Node have. */
export const codeError = (code: string, message: string): Error => Object.assign(new Error(message), { code })

/** A response that is refused for what it is. Its code is in the table above. */
export class ProtocolError extends Error {
  readonly code = "GOVOICE_PROTOCOL"
}

/** The connection ended at an address that was not judged. */
export class PeerAddressError extends Error {
  readonly code = "GOVOICE_PEER_ADDRESS"
}

/** The code of an error, or its name where it has none. */
export const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "UNKNOWN"
  const code: unknown = "code" in error ? error.code : undefined
  if (typeof code === "string" && code !== "") return code
  const nested: unknown = error instanceof AggregateError ? error.errors[0] : undefined
  return nested instanceof Error ? codeOf(nested) : error.name
}

/** What a lookup, a connection or a response that ended in `error` failed for. */
export const reasonOf = (phase: Phase, error: unknown): FailureReason => {
  switch (phase) {
    case "lookup":
      return "dns"
    case "connect":
      return "connect"
    case "tls":
      return "tls"
    default: {
      const code = codeOf(error)
      // undici has one code for a closed socket and for a response it will not follow; the first has no message like these.
      if (code === "UND_ERR_SOCKET" && error instanceof Error && error.message.startsWith("bad ")) return "protocol"
      if (Object.hasOwn(reasons, code)) return reasons[code]!
      if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_") || code.startsWith("ERR_OSSL_")) return "reset"
      return "protocol"
    }
  }
}
