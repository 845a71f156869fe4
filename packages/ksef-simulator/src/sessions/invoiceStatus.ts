/**
 * The status of a document at this time, and the document as the API describes it.
 */
import { PolishTime } from "@govoice/ksef/format"
import { lifetimes } from "../lifetimes.ts"
import type { Simulation } from "../Simulation.ts"
import type { Invoice, Verdict } from "../state/records.ts"
import { invoiceStatuses, statusInfo } from "../statuses.ts"
import { timestamp } from "../time/timestamps.ts"

/** How long after its acceptance a document is stored for good, in milliseconds. */
export const storageMs = 1000

const isHeld = ({ faults }: Simulation, { held }: Invoice): boolean =>
  held !== null && faults.has(held.fault) && (held.polls === null || held.polls > 0)

/** The verdict that shows, or the status before it. */
export const statusOfInvoice = (simulation: Simulation, invoice: Invoice): Verdict => {
  const { clock, options } = simulation
  const { receivedAt, verdict, visibleAt } = invoice
  const now = clock.now()
  if (verdict !== null && now >= visibleAt && !isHeld(simulation, invoice)) return verdict
  return { code: now < receivedAt + clock.scaled(options.processingMs) / 2 ? 100 : 150 }
}

/** Counts an answer about a document that a fault keeps at 150, or about the batch that it came in. */
export const countPoll = ({ state }: Simulation, { held, reference }: Invoice): void => {
  if (held?.polls === null || held === null || held.polls === 0) return
  state.invoices.update(reference, { held: { ...held, polls: held.polls - 1 } })
}

/** `Offline` where the client says so, or the document is dated before the day on which it was received. */
export const modeOf = ({ header, offline, receivedAt }: Invoice): "Online" | "Offline" =>
  offline || (header !== null && header.issueDate < PolishTime.day(receivedAt)) ? "Offline" : "Online"

/** When a document was stored for good, or null where it is not yet. */
export const storedAt = ({ clock }: Simulation, { acceptedAt }: Invoice): number | null => {
  if (acceptedAt === null) return null
  const at = acceptedAt + clock.scaled(storageMs)
  return clock.now() < at ? null : at
}

/** A document as lists and `GET …/invoices/{invoiceReferenceNumber}` answer it. */
export const describeInvoice = (simulation: Simulation, invoice: Invoice): object => {
  const { clock, links } = simulation
  const status = statusOfInvoice(simulation, invoice)
  const common = {
    ordinalNumber: invoice.ordinal,
    referenceNumber: invoice.reference,
    invoiceHash: invoice.hash,
    ...(invoice.fileName === null ? {} : { invoiceFileName: invoice.fileName }),
    invoicingDate: timestamp(invoice.receivedAt),
    status: statusInfo(invoiceStatuses, status)
  }
  if (status.code !== 200 || invoice.ksefNumber === null || invoice.acceptedAt === null) return common
  const stored = storedAt(simulation, invoice)
  const link = links.make(`upo/${invoice.session}/${invoice.reference}.xml`, "r", clock.scaled(lifetimes.link))
  return {
    ...common,
    invoiceNumber: invoice.header?.number ?? null,
    ksefNumber: invoice.ksefNumber,
    acquisitionDate: timestamp(invoice.acceptedAt),
    permanentStorageDate: stored === null ? null : timestamp(stored),
    upoDownloadUrl: link.url,
    upoDownloadUrlExpirationDate: timestamp(link.validUntil),
    invoicingMode: modeOf(invoice)
  }
}
