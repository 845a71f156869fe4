/**
 * The verdict about a document that was received: by its content, by who sent it, by what was accepted before, and by
 * faults.
 */
import { Sha256 } from "@govoice/ksef/crypto"
import { ContextIdentifier, PolishTime } from "@govoice/ksef/format"
import type { Fault } from "../faults/Fault.ts"
import type { Simulation } from "../Simulation.ts"
import type { Header, Invoice, Session, Verdict } from "../state/records.ts"
import { details } from "../statuses.ts"
import { type DocumentFacts, judgeDocument } from "./judgeDocument.ts"
import type { Xml } from "./Xml.ts"

const megabyte = 1_000_000

interface Outcome {
  readonly verdict: Verdict
  readonly facts?: DocumentFacts
}

// An attachment goes interactively with a technical correction alone.
const attachmentIsPossible = ({ state }: Simulation, session: Session, invoice: Invoice): boolean =>
  state.context(session.context).attachments && (session.kind === "batch" || invoice.correctedHash !== null)

// A VAT RR invoice is issued by the buyer, every other one by the seller. In a context with an entity of the EU, that entity
// issues as the buyer what the taxpayer sells to it.
const isIssued = ({ context, form }: Session, { buyerVatUe, header }: DocumentFacts): boolean => {
  const nip = ContextIdentifier.nip(context)
  if (ContextIdentifier.ofValue(context).type === "NipVatUe") {
    return form !== "FA_RR (1)" && header.sellerNip === nip && `${nip}-${buyerVatUe}` === context
  }
  return (form === "FA_RR (1)" ? header.buyerNip : header.sellerNip) === nip
}

// The buyer issues an invoice of a seller that granted it self-billing.
const isSelfBilled = ({ state }: Simulation, context: string, { header }: DocumentFacts): boolean =>
  header.buyerNip === context &&
  Array.from(state.authorizations.values()).some(
    ({ grantor, permission, subject }) =>
      permission === "SelfInvoicing" && grantor === header.sellerNip && subject === context
  )

const duplicateOf = (original: Invoice): Verdict => ({
  code: 440,
  details: [
    `Duplikat faktury. Faktura o numerze KSeF: ${original.ksefNumber} została już prawidłowo przesłana do systemu w sesji: ${original.session}`
  ],
  extensions: {
    originalSessionReferenceNumber: original.session,
    originalKsefNumber: original.ksefNumber ?? ""
  }
})

const judge = (simulation: Simulation, xml: Xml, session: Session, invoice: Invoice): Outcome => {
  if (invoice.document === null) return { verdict: { code: 435 } }
  const bytes = simulation.state.files.read(invoice.document)
  if (bytes.length !== invoice.size)
    return { verdict: { code: 430, details: ["Nieprawidłowy rozmiar pliku faktury."] } }
  if (Sha256.base64(bytes) !== invoice.hash)
    return { verdict: { code: 430, details: ["Nieprawidłowy skrót pliku faktury."] } }
  const limits = simulation.limits.ofSessions(session.context)
  const limit = session.kind === "online" ? limits.onlineSession : limits.batchSession
  const judgment = judgeDocument(xml, bytes, {
    form: session.form,
    maxSize: limit.maxInvoiceSizeInMB * megabyte,
    maxSizeWithAttachment: limit.maxInvoiceWithAttachmentSizeInMB * megabyte,
    receivedOn: PolishTime.day(invoice.receivedAt),
    checksNips: session.checksNips
  })
  if (!judgment.ok) return { verdict: judgment.verdict }
  const { facts } = judgment
  if (!isIssued(session, facts) && !isSelfBilled(simulation, session.context, facts)) {
    return { verdict: { code: 410, details: ["Brak uprawnienia fakturowego"] }, facts }
  }
  if (facts.hasAttachment && !attachmentIsPossible(simulation, session, invoice))
    return { verdict: { code: 415 }, facts }
  const original = simulation.state.invoices.original(facts.header)
  return { verdict: original === undefined ? { code: 200 } : duplicateOf(original), facts }
}

// The number of an accepted document stands from the moment of its acceptance.
const accepted = ({ clock, options, state }: Simulation, invoice: Invoice, header: Header): Partial<Invoice> => {
  const acceptedAt = Math.max(clock.now(), invoice.receivedAt + clock.scaled(options.processingMs))
  const ksefNumber = state.serials.ksefNumber(header.sellerNip, acceptedAt)
  return { verdict: { code: 200 }, acceptedAt, ksefNumber }
}

// Adds the original that a fault names: a document under the same number, accepted in a session of its own just before.
const addOriginal = (simulation: Simulation, session: Session, copy: Invoice, header: Header, bytes: Uint8Array) => {
  const { clock, state } = simulation
  const now = clock.now()
  const reference = state.serials.reference("session", now)
  state.sessions.set(reference, {
    ...session,
    reference,
    kind: "online",
    batch: null,
    closedAt: now,
    failure: null,
    upo: []
  })
  const original: Invoice = {
    ...copy,
    ...accepted(simulation, copy, header),
    reference: state.serials.reference("invoice", now),
    session: reference,
    ordinal: 1,
    hash: Sha256.base64(bytes),
    size: bytes.length,
    fileName: null,
    document: state.files.add(bytes),
    header,
    visibleAt: now,
    held: null
  }
  return state.invoices.add(original)
}

type Duplicate = Extract<Fault, { readonly do: "440" }>

const duplicateByFault = (
  simulation: Simulation,
  session: Session,
  invoice: Invoice,
  header: Header,
  fault: Duplicate
): Verdict => {
  const { state } = simulation
  const bytes = state.files.read(invoice.document!)
  const isOther = fault.original === "other-hash"
  // White space after the root changes the hash, and nothing else.
  const stored = isOther ? Buffer.concat([bytes, Buffer.from("\n")]) : bytes
  const verdict = duplicateOf(addOriginal(simulation, session, invoice, header, stored))
  if (fault.extensions === "none") return { code: verdict.code, details: verdict.details ?? [] }
  if (fault.extensions !== "wrong-session") return verdict
  return { ...verdict, extensions: { ...verdict.extensions, originalSessionReferenceNumber: session.reference } }
}

const withFault = (
  simulation: Simulation,
  session: Session,
  invoice: Invoice,
  outcome: Outcome,
  fault: Fault | undefined
): Outcome => {
  if (fault?.do === "verdict") {
    if (fault.code === 200) return outcome
    const given = fault.details ?? (fault.code === 550 ? [details.cancelled] : undefined)
    return { ...outcome, verdict: { code: fault.code, ...(given === undefined ? {} : { details: given }) } }
  }
  if (fault?.do === "440" && outcome.verdict.code === 200 && outcome.facts !== undefined) {
    const { header } = outcome.facts
    return { ...outcome, verdict: duplicateByFault(simulation, session, invoice, header, fault) }
  }
  return outcome
}

/** Decides a document that has no verdict yet. */
export const decideDocument = (simulation: Simulation, xml: Xml, reference: string): void => {
  const { faults, state } = simulation
  const invoice = state.invoices.get(reference)
  const session = invoice && state.sessions.get(invoice.session)
  if (invoice === undefined || session === undefined || invoice.verdict !== null) return
  const picked = faults.take({ point: "invoice", context: session.context })
  const judged = judge(simulation, xml, session, invoice)
  const { facts, verdict } = withFault(simulation, session, invoice, judged, picked?.fault)
  state.invoices.update(reference, {
    header: facts?.header ?? null,
    ...(verdict.code === 200 && facts !== undefined ? accepted(simulation, invoice, facts.header) : { verdict }),
    ...(picked?.fault.do === "stuck-150"
      ? { held: { fault: picked.id, polls: typeof picked.fault.polls === "number" ? picked.fault.polls : null } }
      : {})
  })
}
