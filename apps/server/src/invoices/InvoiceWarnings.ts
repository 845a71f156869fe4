/**
 * Makes the warnings of an invoice: of what the check of its document found, and of what KSeF sends with its answer.
 */
import type { Invoice } from "@govoice/core"
import { Violation } from "@govoice/ksef/checks"
import type { SystemWarning } from "@govoice/ksef/protocol"

const maxOfSystem = 5

const maxLength = 500

const shortened = (text: string): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : text

/** Returns those of a document. One that was issued offline may arrive on a later day than it names. */
export const ofDocument = (
  found: ReadonlyArray<Violation.Warning>,
  invoicingMode: Invoice.InvoicingMode
): ReadonlyArray<Invoice.Warning> =>
  found
    .filter(({ code }) => code !== "issue_date_past" || invoicingMode === "online")
    .map(({ code, column, line, message, path, source }) => ({
      code,
      message: shortened(`${path === undefined ? "" : `${path}: `}${message} (${source}).`),
      line,
      column
    }))

/** Returns those that came with an answer of KSeF. */
export const ofSystem = (sent: ReadonlyArray<SystemWarning.SystemWarning>): ReadonlyArray<Invoice.Warning> =>
  sent.slice(0, maxOfSystem).map(({ code, message }) => ({
    code: "system_warning",
    message: shortened(Violation.escaped(code === "" ? message : `[${code}] ${message}`)),
    line: null,
    column: null
  }))
