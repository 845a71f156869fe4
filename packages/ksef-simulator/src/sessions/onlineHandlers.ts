/**
 * The interactive session: open, send, close.
 */
import { Sha256, SessionKey } from "@govoice/ksef/crypto"
import { decideDocument } from "../documents/decideDocument.ts"
import { type AuthorizedCall, authorized, type Handler } from "../http/Call.ts"
import { badRequest, empty, json } from "../http/Reply.ts"
import { lifetimes } from "../lifetimes.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Simulation } from "../Simulation.ts"
import type { Invoice, Session } from "../state/records.ts"
import { timestamp } from "../time/timestamps.ts"
import { closeFailure } from "./closeFailure.ts"
import { sessionToUse } from "./findSession.ts"
import { type Encryption, type FormCode, newSession } from "./openSession.ts"
import { statusOfSession } from "./sessionStatus.ts"

const openOnlineSession = authorized((call) => {
  const { body, now, simulation } = call
  const { encryption, formCode } = body as { readonly formCode: FormCode; readonly encryption: Encryption }
  const session: Session = {
    ...newSession(call, "online", formCode, encryption),
    validUntil: now + simulation.clock.scaled(lifetimes.onlineSession),
    batch: null
  }
  simulation.state.sessions.set(session.reference, session)
  return json(201, { referenceNumber: session.reference, validUntil: timestamp(session.validUntil) })
})

interface SendBody {
  readonly invoiceHash: string
  readonly invoiceSize: number
  readonly encryptedInvoiceHash: string
  readonly encryptedInvoiceSize: number
  readonly encryptedInvoiceContent: string
  readonly offlineMode?: boolean
  readonly hashOfCorrectedInvoice?: string | null
}

// Only a document that was refused, or sent offline and refused, is corrected technically, and only once.
const refuseTechnicalCorrection = ({ state }: Simulation, session: Session, hash: string): void => {
  const corrections = Array.from(state.invoices.values()).filter(
    ({ correctedHash, verdict }) => correctedHash === hash && verdict?.code === 200
  )
  if (corrections.length > 0) throw badRequest(21166, "Faktura posiada już przetworzoną prawidłowo korektę techniczną.")
  const isAccepted = Array.from(state.invoices.values()).some(
    (invoice) =>
      invoice.hash === hash &&
      invoice.verdict?.code === 200 &&
      state.sessions.get(invoice.session)?.context === session.context
  )
  if (isAccepted) {
    throw badRequest(21167, "Nie można wysłać korekty technicznej do prawidłowo przetworzonej faktury.")
  }
}

const received = ({ body: given, now, simulation }: AuthorizedCall, session: Session, ordinal: number): Invoice => {
  const body = given as SendBody
  const { clock, options, state } = simulation
  const content = Buffer.from(body.encryptedInvoiceContent, "base64")
  if (content.length !== body.encryptedInvoiceSize) {
    throw badRequest(21402, "Długość treści nie zgadza się z rozmiarem pliku.")
  }
  if (Sha256.base64(content) !== body.encryptedInvoiceHash) {
    throw badRequest(21403, "Skrót treści nie zgadza się ze skrótem pliku.")
  }
  const key = SessionKey.from(Buffer.from(session.key!, "base64"), Buffer.from(session.vector, "base64"))
  const document = key.decrypt(content)
  return {
    reference: state.serials.reference("invoice", now),
    session: session.reference,
    ordinal,
    hash: body.invoiceHash,
    size: body.invoiceSize,
    fileName: null,
    receivedAt: now,
    offline: body.offlineMode === true,
    correctedHash: body.hashOfCorrectedInvoice ?? null,
    document: document === undefined ? null : state.files.add(document),
    verdict: null,
    visibleAt: now + clock.scaled(options.processingMs),
    held: null,
    header: null,
    ksefNumber: null,
    acceptedAt: null
  }
}

const sendInvoice = authorized((call) => {
  const { login, now, path, simulation } = call
  const { limits, processing, state, xml } = simulation
  const session = sessionToUse(simulation, login, path["referenceNumber"]!, "online")
  const status = statusOfSession(simulation, session).code
  if (status !== 100) throw badRequest(21180, `Status sesji ${status} uniemożliwia wysyłkę faktur.`)
  const { maxInvoices } = limits.ofSessions(session.context).onlineSession
  const count = state.invoices.countOf(session.reference)
  if (count >= maxInvoices) {
    throw badRequest(
      21155,
      `Sesja o numerze referencyjnym ${session.reference} osiągnęła dozwolony limit liczby faktur ${maxInvoices}.`
    )
  }
  const { hashOfCorrectedInvoice } = call.body as SendBody
  if (typeof hashOfCorrectedInvoice === "string") {
    refuseTechnicalCorrection(simulation, session, hashOfCorrectedInvoice)
  }
  const invoice = state.invoices.add(received(call, session, count + 1))
  state.sessions.update(session.reference, { updatedAt: now })
  processing.enqueue(async () => decideDocument(simulation, await xml(), invoice.reference))
  return json(202, { referenceNumber: invoice.reference })
})

const closeOnlineSession = authorized(({ login, now, path, simulation }) => {
  const session = sessionToUse(simulation, login, path["referenceNumber"]!, "online")
  const status = statusOfSession(simulation, session).code
  if (status !== 100) throw badRequest(21180, `Status sesji ${status} uniemożliwia jej zamknięcie.`)
  const failure = closeFailure(simulation, session)
  simulation.state.sessions.update(session.reference, { closedAt: now, updatedAt: now, failure })
  return empty(204)
})

/** The handlers of interactive sessions. */
export const onlineHandlers = {
  openOnlineSession,
  sendInvoice,
  closeOnlineSession
} as const satisfies Partial<Record<OperationName, Handler>>
