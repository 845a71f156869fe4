/**
 * Where each fault can apply, and where it does unless it says so itself.
 */
import { operations, type OperationName, outsideOperations } from "../openapi/operations.ts"
import type { FaultName, FaultPoint } from "./Fault.ts"

/** Where a fault can apply, and where it applies by default. `*` means each of the operations where it can. */
export interface Points {
  readonly possible: ReadonlyArray<FaultPoint>
  readonly usual: ReadonlyArray<FaultPoint>
}

const all = Object.keys(operations) as ReadonlyArray<OperationName>
const where = (holds: (key: string) => boolean): ReadonlyArray<OperationName> =>
  all.filter((name) => holds(operations[name]))

const openings = ["openOnlineSession", "openBatchSession"] as const
const closes = ["closeOnlineSession", "closeBatchSession"] as const
const upos = ["getInvoiceUpo", "getInvoiceUpoByNumber", "getSessionUpo"] as const
const ofSession = where((key) => /^\w+ \/sessions\/(?:\w+\/)?\{referenceNumber\}/.test(key))
// The calls that carry an access token: neither a login under way, nor the refresh of its tokens.
const authorized = where((key) => !/ \/(?:auth|testdata|security)\//.test(key))

const everywhere: Points = { possible: ["*", ...all], usual: ["*"] }
const transport: Points = { possible: ["*", ...all, ...outsideOperations], usual: ["*"] }
const only = (...possible: ReadonlyArray<FaultPoint>): Points => ({ possible, usual: possible })

/** The points of each fault. */
export const points: Readonly<Record<FaultName, Points>> = {
  "429": everywhere,
  "5xx": transport,
  html: transport,
  "system-warning": everywhere,
  delay: transport,
  stall: transport,
  "drop-before": transport,
  "drop-after": transport,
  exception: everywhere,
  "21184": { possible: ofSession, usual: ["sendInvoice"] },
  "stuck-150": only("invoice"),
  verdict: { possible: ["invoice", "session", "login"], usual: ["invoice"] },
  "440": only("invoice"),
  "415-after-rotation": { possible: ["*", ...all], usual: openings },
  "rotate-keys": { possible: ["*", ...all], usual: openings },
  "expire-access": { possible: ["*", ...authorized], usual: ["*"] },
  "revoke-token": { possible: ["*", ...authorized], usual: ["*"] },
  "block-403": everywhere,
  "upo-late": only(...upos),
  "upo-html": only("downloadUpo"),
  "session-gone": { possible: ofSession, usual: ["sendInvoice"] },
  "close-lost": only(...closes),
  "token-login-ends": only("loginWithToken")
}

/** The points at which a fault can apply. */
export const faultPoints: ReadonlyArray<FaultPoint> = [...all, ...outsideOperations, "*", "invoice", "session", "login"]
