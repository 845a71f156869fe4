/**
 * The UPO of a document that was accepted, and the pages of a session's UPO.
 */
import { Sha256 } from "@govoice/ksef/crypto"
import { ContextIdentifier } from "@govoice/ksef/format"
import type { Simulation } from "../Simulation.ts"
import type { FormName, Invoice, Session } from "../state/records.ts"
import { receivingEntities, type UpoContent, type UpoDocument } from "../upo/Upo.ts"
import { modeOf, statusOfInvoice } from "./invoiceStatus.ts"
import { upoPageSize } from "./sessionStatus.ts"

/** A UPO and its hash. */
export interface SignedUpo {
  readonly bytes: Buffer
  /** SHA-256 in Base64. */
  readonly hash: string
}

const structures: Readonly<Record<FormName, string>> = {
  "FA (3)": "Schemat_FA(3)_v1-0E.xsd",
  "FA_RR (1)": "Schemat_FA_RR(1)_v1-1E.xsd"
}

const documentOf = (invoice: Invoice): UpoDocument => ({
  sellerNip: invoice.header!.sellerNip,
  ksefNumber: invoice.ksefNumber!,
  invoiceNumber: invoice.header!.number,
  issueDate: invoice.header!.issueDate,
  sentAt: invoice.receivedAt,
  numberedAt: invoice.acceptedAt!,
  documentHash: invoice.hash,
  mode: modeOf(invoice)
})

const make = async (
  { options, state, upoSigner }: Simulation,
  session: Session,
  invoices: ReadonlyArray<Invoice>,
  page?: UpoContent["page"]
): Promise<SignedUpo> => {
  const login = state.logins.get(session.login)
  const content: UpoContent = {
    receivingEntity: receivingEntities[options.upoName === "schema" ? "prod" : options.environment],
    sessionReference: session.reference,
    context: ContextIdentifier.ofValue(session.context),
    authentication:
      typeof login?.documentHash === "string"
        ? { documentHash: login.documentHash }
        : { tokenReference: login?.tokenReference ?? session.reference },
    ...(page === undefined ? {} : { page }),
    logicalStructure: structures[session.form],
    formCode: session.form,
    documents: invoices.map(documentOf)
  }
  const bytes = await upoSigner.sign(content, Math.max(...invoices.map(({ acceptedAt }) => acceptedAt!)))
  return { bytes, hash: Sha256.base64(bytes) }
}

/** Makes the UPO of a document, or returns `undefined` where it is not accepted (yet). */
export const invoiceUpo = async (
  simulation: Simulation,
  session: Session,
  invoice: Invoice
): Promise<SignedUpo | undefined> => {
  const isAccepted = statusOfInvoice(simulation, invoice).code === 200 && invoice.ksefNumber !== null
  return isAccepted ? make(simulation, session, [invoice]) : undefined
}

/** Makes a page of a session's UPO, or returns `undefined` where there is none under this reference. */
export const sessionUpo = async (
  simulation: Simulation,
  session: Session,
  reference: string
): Promise<SignedUpo | undefined> => {
  const index = session.upo.indexOf(reference)
  if (index === -1) return undefined
  const accepted = simulation.state.invoices.ofSession(session.reference).filter(({ verdict }) => verdict?.code === 200)
  const from = index * upoPageSize
  const documents = accepted.slice(from, from + upoPageSize)
  if (documents.length === 0) return undefined
  return make(simulation, session, documents, {
    number: index + 1,
    pages: session.upo.length,
    from: from + 1,
    to: from + documents.length + 1,
    documents: accepted.length
  })
}
