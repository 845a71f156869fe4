/**
 * Faults of KSeF as values: where a fault applies, how often, and its effect.
 */
import type { OperationName, OutsideOperationName } from "../openapi/operations.ts"

/**
 * Where a fault applies. An operation means its calls. `*` means all calls of the API to
 * which the fault can apply. `invoice` means the verdict about a
 * document, `session` the status of a session when it is closed, `login` the outcome of a login.
 */
export type FaultPoint = OperationName | OutsideOperationName | "*" | "invoice" | "session" | "login"

/** Which occasions a fault picks. */
export interface FaultSelector {
  /** Each `do` has a default. */
  readonly on?: FaultPoint
  /** Only for the context with this value, such as a NIP. */
  readonly context?: string
  /** The first occasion that is picked. Defaults to 1. */
  readonly nth?: number
  /** How many occasions in a row are picked. Defaults to 1. */
  readonly times?: number | "always"
  /** Picks only this share of them, by the seed. Between 0 and 1. Defaults to 1. */
  readonly probability?: number
}

/** The effect of a fault. */
export type FaultAction =
  /** Answers 429. `retryAfter` is in seconds and defaults to 60. */
  | { readonly do: "429"; readonly retryAfter?: number }
  /** Answers an error of the server with JSON. `status` defaults to 503. `retryAfter` is in seconds; without it there is no header. */
  | { readonly do: "5xx"; readonly status?: number; readonly retryAfter?: number }
  /** Answers with the page of a firewall or a proxy. `status` defaults to 502; 200 is possible. */
  | { readonly do: "html"; readonly status?: number }
  /** Carries out the call, and adds `X-System-Warning`. `code` defaults to `simulated`. */
  | { readonly do: "system-warning"; readonly message: string; readonly code?: string }
  /** Waits, then carries out the call. */
  | { readonly do: "delay"; readonly ms: number }
  /** Never answers. The call is not carried out. */
  | { readonly do: "stall" }
  /** Cuts the connection. The call is not carried out. */
  | { readonly do: "drop-before" }
  /** Carries out the call, then cuts the connection. */
  | { readonly do: "drop-after" }
  /** Answers 400 with a code of the document. */
  | { readonly do: "exception"; readonly code: number; readonly details?: ReadonlyArray<string> }
  /** Answers 400 with 21184: the session is under maintenance. */
  | { readonly do: "21184" }
  /** Keeps a document at 150 for so many answers about it or its batch, or for ever. `polls` defaults to `always`. */
  | { readonly do: "stuck-150"; readonly polls?: number | "always" }
  /** Decides a document, a session or a login with this code. */
  | { readonly do: "verdict"; readonly code: number; readonly details?: ReadonlyArray<string> }
  /**
   * Ends a document as a duplicate. The original is another copy of the same document (`matching`, the default), accepted
   * in a session of the same context, or another document under the same number (`other-hash`). `extensions` are `right`,
   * the default, missing (`none`), or name another session (`wrong-session`).
   */
  | {
      readonly do: "440"
      readonly original?: "matching" | "other-hash"
      readonly extensions?: "right" | "none" | "wrong-session"
    }
  /** Changes the public keys without an announcement: sessions that are opened with the old ones end as 415. */
  | { readonly do: "415-after-rotation" }
  /** Changes the public keys. `emergency` withdraws the old ones at once; `planned`, the default, keeps them for now. */
  | { readonly do: "rotate-keys"; readonly rotation?: "planned" | "emergency" }
  /** Ends the life of all access tokens of the caller's context. */
  | { readonly do: "expire-access" }
  /** Revokes the KSeF token that the caller logged in with. */
  | { readonly do: "revoke-token" }
  /**
   * Answers 403 as the firewall in front of KSeF does, for so long. `ms` defaults to 0: this call alone. `detail` is its text, by
   * default that of a block.
   */
  | { readonly do: "block-403"; readonly ms?: number; readonly detail?: string }
  /** Answers that there is no UPO yet. */
  | { readonly do: "upo-late" }
  /** Answers a handed-out link of a UPO with status 200 and a page in place of the document. */
  | { readonly do: "upo-html" }
  /** Loses the session: from then on it is not found. */
  | { readonly do: "session-gone" }
  /** Answers a close with 504. `committed` says whether it was carried out, and defaults to false. */
  | { readonly do: "close-lost"; readonly committed?: boolean }
  /** Refuses logins with tokens, as after the end of the transitional rule. `times` defaults to `always`. */
  | { readonly do: "token-login-ends" }

/** A fault. */
export type Fault = FaultSelector & FaultAction

/** The name of what a fault does. */
export type FaultName = FaultAction["do"]
