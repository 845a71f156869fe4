/** Which failure an error is: decided by how far the attempt came, and once the request was written by one table. */
import type { Phase } from "../Options.ts"
import type { FailureReason } from "../Outcome.ts"

/** Codes of Node and undici for how a connection ends that was made. Before that, the phase alone tells what failed. */
const reasons: Readonly<Record<string, FailureReason>> = {
  UND_ERR_HEADERS_TIMEOUT: "timeout",

  ECONNRESET: "reset",
  ECONNABORTED: "reset",
  EPIPE: "reset",
  EPROTO: "reset",
  UND_ERR_SOCKET: "reset",
  // The network went away under the connection.
  ETIMEDOUT: "reset",
  EHOSTUNREACH: "reset",
  EHOSTDOWN: "reset",
  ENETUNREACH: "reset",
  ENETDOWN: "reset",
  ENOBUFS: "reset",

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
