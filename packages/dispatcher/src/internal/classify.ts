/** Classifies statuses, and errors: by the phase of the attempt, and after the request was written by one table of codes. */
import type { Phase } from "../Options.ts"
import type { FailureReason } from "../Outcome.ts"

/** Codes of Node and undici for a connection that was established. Before that, the phase alone decides. */
const reasons: Readonly<Record<string, FailureReason>> = {
  UND_ERR_HEADERS_TIMEOUT: "timeout",

  ECONNRESET: "reset",
  ECONNABORTED: "reset",
  EPIPE: "reset",
  EPROTO: "reset",
  UND_ERR_SOCKET: "reset",
  // The network became unreachable during the connection.
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

/** Whether an HTTP status is a transient error. */
export const isRetryableStatus = (status: number): boolean => status === 429 || (status >= 500 && status <= 599)

/** An error with a code, like the errors of Node. */
export const codeError = (code: string, message: string): Error => Object.assign(new Error(message), { code })

/** A response that violates a limit or the protocol. Its code is in the table above. */
export class ProtocolError extends Error {
  readonly code = "GOVOICE_PROTOCOL"
}

/** The connection was made to an address that was not judged. */
export class PeerAddressError extends Error {
  readonly code = "GOVOICE_PEER_ADDRESS"
}

/** The code of an error, or its name if it has none. */
export const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "UNKNOWN"
  const code: unknown = "code" in error ? error.code : undefined
  if (typeof code === "string" && code !== "") return code
  const nested: unknown = error instanceof AggregateError ? error.errors[0] : undefined
  return nested instanceof Error ? codeOf(nested) : error.name
}

/** The reason of a failure by `error` in `phase`. */
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
      // undici has one code for a closed socket and for a forbidden response, whose messages begin like this.
      if (code === "UND_ERR_SOCKET" && error instanceof Error && error.message.startsWith("bad ")) return "protocol"
      if (Object.hasOwn(reasons, code)) return reasons[code]!
      if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_") || code.startsWith("ERR_OSSL_")) return "reset"
      return "protocol"
    }
  }
}
