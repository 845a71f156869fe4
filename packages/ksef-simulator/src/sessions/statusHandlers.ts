/**
 * Reading what became of what was sent: sessions, documents, UPOs, downloads.
 */
import { authorized, type Handler } from "../http/Call.ts"
import { page } from "../http/pages.ts"
import { badRequest, json, type Reply, xml } from "../http/Reply.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Simulation } from "../Simulation.ts"
import type { Invoice, Session } from "../state/records.ts"
import { sessionsToList, sessionToRead } from "./findSession.ts"
import { countPoll, describeInvoice, statusOfInvoice, storedAt } from "./invoiceStatus.ts"
import { invoiceUpo, sessionUpo, type SignedUpo } from "./makeUpo.ts"
import { describeSession, filterStatus, listedSession, statusOfSession } from "./sessionStatus.ts"

const within = (time: number | null, from: unknown, to: unknown): boolean =>
  (typeof from !== "string" || (time !== null && time >= Date.parse(from))) &&
  (typeof to !== "string" || (time !== null && time <= Date.parse(to)))

const listSessions = authorized(({ headers, login, query, simulation }) => {
  const statuses = query["statuses"] as ReadonlyArray<string> | undefined
  const wanted = sessionsToList(simulation, login).filter(
    (session) =>
      session.kind === (query["sessionType"] === "Online" ? "online" : "batch") &&
      (query["referenceNumber"] === undefined || session.reference === query["referenceNumber"]) &&
      within(session.createdAt, query["dateCreatedFrom"], query["dateCreatedTo"]) &&
      within(session.closedAt, query["dateClosedFrom"], query["dateClosedTo"]) &&
      within(session.updatedAt, query["dateModifiedFrom"], query["dateModifiedTo"]) &&
      (statuses === undefined || statuses.length === 0 || statuses.includes(filterStatus(simulation, session)))
  )
  const newest = wanted.toSorted((left, right) => right.createdAt - left.createdAt)
  const { continuationToken, items } = page(newest, Number(query["pageSize"]), headers)
  return json(200, {
    ...(continuationToken === undefined ? {} : { continuationToken }),
    sessions: items.map((session) => listedSession(simulation, session))
  })
})

const getSession = authorized(({ login, path, simulation }) => {
  const session = sessionToRead(simulation, login, path["referenceNumber"]!)
  const described = describeSession(simulation, session)
  // A client waits for a batch by its session, and for other documents one by one.
  if (session.kind === "batch") {
    for (const invoice of simulation.state.invoices.ofSession(session.reference)) countPoll(simulation, invoice)
  }
  return json(200, described)
})

const listed = (
  simulation: Simulation,
  invoices: ReadonlyArray<Invoice>,
  size: number,
  headers: Parameters<typeof page>[2]
): Reply => {
  const { continuationToken, items } = page(invoices, size, headers)
  const described = items.map((invoice) => describeInvoice(simulation, invoice))
  for (const invoice of items) countPoll(simulation, invoice)
  return json(200, {
    ...(continuationToken === undefined ? {} : { continuationToken }),
    invoices: described
  })
}

const listInvoices = authorized(({ headers, login, path, query, simulation }) => {
  const session = sessionToRead(simulation, login, path["referenceNumber"]!)
  return listed(simulation, simulation.state.invoices.ofSession(session.reference), Number(query["pageSize"]), headers)
})

const listFailedInvoices = authorized(({ headers, login, path, query, simulation }) => {
  const session = sessionToRead(simulation, login, path["referenceNumber"]!)
  const failed = simulation.state.invoices
    .ofSession(session.reference)
    .filter((invoice) => statusOfInvoice(simulation, invoice).code >= 400)
  return listed(simulation, failed, Number(query["pageSize"]), headers)
})

const invoiceOf = ({ state }: Simulation, session: Session, reference: string): Invoice | undefined => {
  const invoice = state.invoices.get(reference)
  return invoice?.session === session.reference ? invoice : undefined
}

const getInvoice = authorized(({ login, path, simulation }) => {
  const session = sessionToRead(simulation, login, path["referenceNumber"]!)
  const reference = path["invoiceReferenceNumber"]!
  const invoice = invoiceOf(simulation, session, reference)
  if (invoice === undefined) {
    throw badRequest(21405, `Faktura o numerze referencyjnym ${reference} nie została znaleziona w sesji.`)
  }
  const described = describeInvoice(simulation, invoice)
  countPoll(simulation, invoice)
  return json(200, described)
})

const upoReply = (upo: SignedUpo | undefined, missing: string): Reply => {
  if (upo === undefined) throw badRequest(21178, missing)
  return xml(upo.bytes, upo.hash)
}

const getInvoiceUpo = authorized(async ({ login, path, simulation }) => {
  const session = sessionToRead(simulation, login, path["referenceNumber"]!)
  const reference = path["invoiceReferenceNumber"]!
  const invoice = invoiceOf(simulation, session, reference)
  return upoReply(
    invoice && (await invoiceUpo(simulation, session, invoice)),
    `UPO o numerze referencyjnym ${reference} dla sesji ${session.reference} nie zostało znalezione.`
  )
})

const getInvoiceUpoByNumber = authorized(async ({ login, path, simulation }) => {
  const session = sessionToRead(simulation, login, path["referenceNumber"]!)
  const ksefNumber = path["ksefNumber"]!
  const invoice = simulation.state.invoices.byNumber(ksefNumber)
  return upoReply(
    invoice?.session === session.reference ? await invoiceUpo(simulation, session, invoice) : undefined,
    `UPO o numerze KSeF ${ksefNumber} i numerze referencyjnym sesji ${session.reference} nie zostało znalezione.`
  )
})

const getSessionUpo = authorized(async ({ login, path, simulation }) => {
  const session = sessionToRead(simulation, login, path["referenceNumber"]!)
  const reference = path["upoReferenceNumber"]!
  const isDone = statusOfSession(simulation, session).code === 200
  return upoReply(
    isDone ? await sessionUpo(simulation, session, reference) : undefined,
    `UPO o numerze referencyjnym ${reference} dla sesji ${session.reference} nie zostało znalezione.`
  )
})

// The seller and the buyer of an invoice may read it, and who sent it.
const downloadInvoice = authorized(({ login, path, simulation }) => {
  const ksefNumber = path["ksefNumber"]!
  const { state } = simulation
  const invoice = state.invoices.byNumber(ksefNumber)
  const isParty = [
    invoice?.header?.sellerNip,
    invoice?.header?.buyerNip,
    state.sessions.get(invoice?.session ?? "")?.context
  ].includes(login.context)
  if (invoice === undefined || !isParty || statusOfInvoice(simulation, invoice).code !== 200) {
    throw badRequest(21164, `Faktura o numerze KSeF ${ksefNumber} nie została znaleziona.`)
  }
  if (storedAt(simulation, invoice) === null) {
    throw badRequest(
      21165,
      `Faktura o numerze KSeF ${ksefNumber} została przetworzona, ale nie jest jeszcze dostępna do pobrania. Spróbuj ponownie później.`
    )
  }
  return xml(state.files.read(invoice.document!), invoice.hash)
})

/** The handlers that read. */
export const statusHandlers = {
  listSessions,
  getSession,
  listInvoices,
  listFailedInvoices,
  getInvoice,
  getInvoiceUpo,
  getInvoiceUpoByNumber,
  getSessionUpo,
  downloadInvoice
} as const satisfies Partial<Record<OperationName, Handler>>
