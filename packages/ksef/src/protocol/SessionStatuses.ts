/**
 * Every status of a session, and what becomes of its invoices.
 *
 * @since 0.1.0
 */

/**
 * How invoices are sent: one by one, or as one file.
 *
 * @category models
 * @since 0.1.0
 */
export type SessionKind = "online" | "batch"

/**
 * The reaction of the gateway to a status.
 *
 * **Details**
 *
 * - `use`: send invoices; of a batch, upload the parts and close it.
 * - `poll`: ask again later.
 * - `read-invoices`: each invoice has a verdict of its own.
 * - `refresh-keys`: read the public keys again and open another session; its invoices were not taken.
 * - `halve`: send the invoices again, in two batches.
 * - `send-alone`: a defect of ours: send the invoices again, one by one.
 * - `send-again`: the invoices were not taken.
 * - `look-then-send-again`: the same, once the list of invoices has none of them.
 * - `park`: log an error, ask again later.
 *
 * @category models
 * @since 0.1.0
 */
export type SessionAction =
  | "use"
  | "poll"
  | "read-invoices"
  | "refresh-keys"
  | "halve"
  | "send-alone"
  | "send-again"
  | "look-then-send-again"
  | "park"

/**
 * One status. `final` tells whether KSeF will never change it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly meaning: string
  readonly final: boolean
  readonly action: SessionAction
}

/**
 * The status of a batch with more invoices than the limit.
 *
 * @category constants
 * @since 0.1.0
 */
export const tooManyInvoices = 420

const unreadableKey: Row = { meaning: "the wrapped key cannot be decrypted", final: true, action: "refresh-keys" }
const success: Row = { meaning: "processed", final: true, action: "read-invoices" }
const noneValid: Row = { meaning: "no invoice is valid", final: true, action: "read-invoices" }

/**
 * The documented statuses, by kind and code.
 *
 * @category constants
 * @since 0.1.0
 */
export const sessionStatuses: Readonly<Record<SessionKind, Readonly<Record<number, Row>>>> = {
  online: {
    100: { meaning: "open", final: false, action: "use" },
    170: { meaning: "closed, being processed", final: false, action: "poll" },
    200: success,
    415: unreadableKey,
    440: { meaning: "canceled: nothing was sent", final: true, action: "send-again" },
    445: noneValid
  },
  batch: {
    100: { meaning: "begun", final: false, action: "use" },
    150: { meaning: "being processed", final: false, action: "poll" },
    200: success,
    405: { meaning: "the parts do not fit what was declared", final: true, action: "send-alone" },
    415: unreadableKey,
    [tooManyInvoices]: { meaning: "too many invoices", final: true, action: "halve" },
    430: { meaning: "the archive cannot be decompressed", final: true, action: "send-alone" },
    435: { meaning: "the parts cannot be decrypted", final: true, action: "send-alone" },
    440: { meaning: "canceled: the upload took too long, or nothing was sent", final: true, action: "send-again" },
    445: noneValid,
    500: { meaning: "unknown error", final: true, action: "look-then-send-again" }
  }
}

/**
 * Returns what a status means, also one that is not documented.
 *
 * @category getters
 * @since 0.1.0
 */
export const sessionStatus = (kind: SessionKind, code: number): Row =>
  sessionStatuses[kind][code] ?? { meaning: "not documented", final: false, action: code < 200 ? "poll" : "park" }
