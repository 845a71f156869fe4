/**
 * Faults of KSeF as values: where a fault applies, how often, and its effect.
 */
import type { OperationName, OutsideOperationName } from "../openapi/operations.ts"
import { faultPoints, points } from "./points.ts"

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
  /** Only for this context. */
  readonly nip?: string
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
  /** Answers an error of the server with JSON. `status` defaults to 503. */
  | { readonly do: "5xx"; readonly status?: number }
  /** Answers with the page of a firewall or a proxy. `status` defaults to 502; 200 is possible. */
  | { readonly do: "html"; readonly status?: number }
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
  /** Changes the public keys without a word: sessions that are opened with the old ones end as 415. */
  | { readonly do: "415-after-rotation" }
  /** Changes the public keys. `emergency` withdraws the old ones at once; `planned`, the default, keeps them for now. */
  | { readonly do: "rotate-keys"; readonly rotation?: "planned" | "emergency" }
  /** Ends the life of all access tokens of the caller's context. */
  | { readonly do: "expire-access" }
  /** Revokes the KSeF token that the caller logged in with. */
  | { readonly do: "revoke-token" }
  /** Answers 403 as the firewall in front of KSeF does, for so long. `ms` defaults to 0: this call alone. */
  | { readonly do: "block-403"; readonly ms?: number }
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

type Check = (value: unknown) => boolean

const isWhole =
  (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
const isOneOf =
  (...values: ReadonlyArray<unknown>): Check =>
  (value) =>
    values.includes(value)
const isTexts: Check = (value) => Array.isArray(value) && value.every((text) => typeof text === "string")

interface Member {
  readonly expected: string
  readonly check: Check
  readonly required?: true
}

const anyStatus: Member = { expected: "a status from 200 to 599", check: isWhole(200, 599) }
const details: Member = { expected: "a list of texts", check: isTexts }
const anyCode: Member = { expected: "a code from 100 to 599", check: isWhole(100, 599), required: true }

const members: Readonly<Record<FaultName, Readonly<Record<string, Member>>>> = {
  "429": { retryAfter: { expected: "seconds from 0 up", check: isWhole(0) } },
  "5xx": { status: { expected: "a status from 500 to 599", check: isWhole(500, 599) } },
  html: { status: anyStatus },
  delay: { ms: { expected: "milliseconds from 0 to 600000", check: isWhole(0, 600_000), required: true } },
  stall: {},
  "drop-before": {},
  "drop-after": {},
  exception: { code: { expected: "a code such as 21173", check: isWhole(9000, 99_999), required: true }, details },
  "21184": {},
  "stuck-150": {
    polls: { expected: 'a number from 1 up, or "always"', check: (value) => value === "always" || isWhole(1)(value) }
  },
  verdict: { code: anyCode, details },
  "440": {
    original: { expected: '"matching" or "other-hash"', check: isOneOf("matching", "other-hash") },
    extensions: { expected: '"right", "none" or "wrong-session"', check: isOneOf("right", "none", "wrong-session") }
  },
  "415-after-rotation": {},
  "rotate-keys": { rotation: { expected: '"planned" or "emergency"', check: isOneOf("planned", "emergency") } },
  "expire-access": {},
  "revoke-token": {},
  "block-403": { ms: { expected: "milliseconds from 0 up", check: isWhole(0) } },
  "upo-late": {},
  "upo-html": {},
  "session-gone": {},
  "close-lost": { committed: { expected: "true or false", check: isOneOf(true, false) } },
  "token-login-ends": {}
}

/** The names of all faults. */
export const faultNames = Object.keys(members) as ReadonlyArray<FaultName>

const selector: Readonly<Record<string, Member>> = {
  on: { expected: `one of ${faultPoints.join(", ")}`, check: isOneOf(...faultPoints) },
  nip: { expected: "ten digits", check: (value) => typeof value === "string" && /^\d{10}$/.test(value) },
  nth: { expected: "a number from 1 up", check: isWhole(1) },
  times: { expected: 'a number from 1 up, or "always"', check: (value) => value === "always" || isWhole(1)(value) },
  probability: {
    expected: "a number between 0 and 1",
    check: (value) => typeof value === "number" && value >= 0 && value <= 1
  }
}

/**
 * Checks a fault that came from outside.
 *
 * @throws {TypeError} that says what was expected.
 */
export const parseFault = (value: unknown): Fault => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`Expected a fault as an object, such as {"do":"drop-after"}.`)
  }
  const given = value as Record<string, unknown>
  const name = String(given["do"]) as FaultName
  const own = Object.hasOwn(members, name) ? members[name] : undefined
  if (own === undefined) throw new TypeError(`Expected "do" to be one of ${faultNames.join(", ")}.`)
  const known: Readonly<Record<string, Member>> = { ...selector, ...own }
  for (const [member, { check, expected, required }] of Object.entries(known)) {
    const present = Object.hasOwn(given, member) && given[member] !== undefined
    if (present ? !check(given[member]) : required) {
      throw new TypeError(`Expected "${member}" of the fault "${name}" to be ${expected}.`)
    }
  }
  for (const member of Object.keys(given)) {
    if (member !== "do" && !Object.hasOwn(known, member)) {
      throw new TypeError(`The fault "${name}" has no member "${member}". It has ${Object.keys(known).join(", ")}.`)
    }
  }
  const { possible } = points[name]
  const on = given["on"] as FaultPoint | undefined
  if (on !== undefined && !possible.includes(on)) {
    const expected = possible.includes("*")
      ? 'an operation that it can apply to, or "*"'
      : `one of ${possible.join(", ")}`
    throw new TypeError(`Expected "on" of the fault "${name}" to be ${expected}.`)
  }
  return value as Fault
}
