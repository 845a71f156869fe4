/**
 * The status of a session at this time. Nothing but its documents and the clock decides it, so that it needs no timer.
 */
import { lifetimes } from "../lifetimes.ts"
import type { Simulation } from "../Simulation.ts"
import type { Session, Status } from "../state/records.ts"
import { batchStatuses, details, onlineStatuses, statusInfo } from "../statuses.ts"
import { timestamp } from "../time/timestamps.ts"
import { statusOfInvoice } from "./invoiceStatus.ts"

/** How many documents of a session have which outcome. */
export interface Counts {
  readonly all: number
  readonly successful: number
  readonly failed: number
}

/** Counts the documents of a session by what shows of them. */
export const countsOf = (simulation: Simulation, { reference }: Session): Counts => {
  const codes = simulation.state.invoices
    .ofSession(reference)
    .map((invoice) => statusOfInvoice(simulation, invoice).code)
  return {
    all: codes.length,
    successful: codes.filter((code) => code === 200).length,
    failed: codes.filter((code) => code >= 400).length
  }
}

/** When a session closed, or closes by itself; null where it stays as it is. */
const closedAt = (session: Session): number | null =>
  session.closedAt ?? (session.kind === "online" ? session.validUntil : null)

const ofOutcome = ({ all, failed, successful }: Counts, meanwhile: number): Status => {
  if (all === 0) return { code: 440, details: [details.nothingSent] }
  if (successful + failed < all) return { code: meanwhile }
  return { code: successful === 0 ? 445 : 200 }
}

/** The status of a session. `counts` are those of its documents; they are counted where they matter. */
export const statusOfSession = (simulation: Simulation, session: Session, counts?: Counts): Status => {
  const { clock, options } = simulation
  const now = clock.now()
  const closed = closedAt(session)
  const { batch, failure, key } = session
  if (session.kind === "online") {
    if (failure !== null) return failure
    if (key === null) return { code: 415 }
    return closed === null || now < closed ? { code: 100 } : ofOutcome(counts ?? countsOf(simulation, session), 170)
  }
  if (closed === null) {
    return now < session.validUntil ? { code: 100 } : { code: 440, details: [details.uploadTimedOut] }
  }
  if (now < closed + clock.scaled(options.processingMs)) return { code: 150 }
  if (failure !== null) return failure
  return batch?.processed === true ? ofOutcome(counts ?? countsOf(simulation, session), 150) : { code: 150 }
}

const commonStatus = ({ code }: Status): "InProgress" | "Succeeded" | "Failed" | "Cancelled" =>
  code < 200 ? "InProgress" : code === 200 ? "Succeeded" : code === 440 ? "Cancelled" : "Failed"

/** The status of a session under the names of the filter of `GET /sessions`. */
export const filterStatus = (simulation: Simulation, session: Session): ReturnType<typeof commonStatus> =>
  commonStatus(statusOfSession(simulation, session))

const tableOf = ({ kind }: Session): Readonly<Record<number, string>> =>
  kind === "online" ? onlineStatuses : batchStatuses

/** How many documents one page of the UPO of a session confirms at most, by its schema. */
export const upoPageSize = 10_000

/** The reference numbers of the pages of a session's UPO, which are drawn when they are needed first. */
export const upoReferences = (
  { clock, state }: Simulation,
  session: Session,
  successful: number
): ReadonlyArray<string> => {
  const missing = Math.ceil(successful / upoPageSize) - session.upo.length
  if (missing <= 0) return session.upo
  const drawn = Array.from({ length: missing }, () => state.serials.reference("upo", clock.now()))
  return state.sessions.update(session.reference, { upo: [...session.upo, ...drawn] }).upo
}

// KSeF answers no count rather than 0.
const orNull = (count: number): number | null => (count === 0 ? null : count)

/** A session as `GET /sessions/{referenceNumber}` answers it. */
export const describeSession = (simulation: Simulation, session: Session): object => {
  const { clock, links } = simulation
  const counts = countsOf(simulation, session)
  const status = statusOfSession(simulation, session, counts)
  const references = status.code === 200 ? upoReferences(simulation, session, counts.successful) : []
  const pages = references.map((reference) => {
    const link = links.make(`upo/${session.reference}/${reference}.xml`, "r", clock.scaled(lifetimes.link))
    return {
      referenceNumber: reference,
      downloadUrl: link.url,
      downloadUrlExpirationDate: timestamp(link.validUntil)
    }
  })
  return {
    status: statusInfo(tableOf(session), status),
    dateCreated: timestamp(session.createdAt),
    dateUpdated: timestamp(session.updatedAt),
    validUntil: timestamp(session.validUntil),
    ...(status.code === 200 ? { upo: { pages } } : {}),
    invoiceCount: orNull(counts.all),
    successfulInvoiceCount: orNull(counts.successful),
    failedInvoiceCount: orNull(counts.failed)
  }
}

/** A session as `GET /sessions` lists it. */
export const listedSession = (simulation: Simulation, session: Session): object => {
  const counts = countsOf(simulation, session)
  return {
    referenceNumber: session.reference,
    status: statusInfo(tableOf(session), statusOfSession(simulation, session, counts)),
    dateCreated: timestamp(session.createdAt),
    dateUpdated: timestamp(session.updatedAt),
    validUntil: timestamp(session.validUntil),
    totalInvoiceCount: counts.all,
    successfulInvoiceCount: counts.successful,
    failedInvoiceCount: counts.failed
  }
}
