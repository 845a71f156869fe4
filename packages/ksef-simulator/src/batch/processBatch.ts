/**
 * Processes a closed batch: its parts are checked, decrypted and joined, and its documents are read and judged.
 */
import { createDecipheriv, createHash } from "node:crypto"
import { createReadStream, createWriteStream, rmSync } from "node:fs"
import { pipeline } from "node:stream/promises"
import { Sha256 } from "@govoice/ksef/crypto"
import { decideDocument } from "../documents/decideDocument.ts"
import type { Simulation } from "../Simulation.ts"
import type { Place } from "../state/Files.ts"
import type { Invoice, Session, Status } from "../state/records.ts"
import { ArchiveFault, documentsOf } from "./documentsOf.ts"

/** Ends a batch as a whole. */
class BatchFailure extends Error {
  readonly status: Status

  constructor(code: number, ...details: ReadonlyArray<string>) {
    super(`The batch ends with ${code}`)
    this.name = "BatchFailure"
    this.status = details.length === 0 ? { code } : { code, details }
  }
}

// The key and the vector are the session's; each part begins anew.
const decryptPart = async (session: Session, from: string, to: string, begin: boolean): Promise<void> => {
  const key = Buffer.from(session.key!, "base64")
  const vector = Buffer.from(session.vector, "base64")
  try {
    await pipeline(
      createReadStream(from),
      createDecipheriv("aes-256-cbc", key, vector),
      createWriteStream(to, { flags: begin ? "w" : "a", mode: 0o600 })
    )
  } catch {
    throw new BatchFailure(435)
  }
}

const hashOfFile = async (path: string): Promise<string> => {
  const hash = createHash("sha256")
  await pipeline(createReadStream(path), hash)
  return hash.digest("base64")
}

const joinParts = async ({ state }: Simulation, session: Session, archive: string): Promise<void> => {
  const { hash, parts } = session.batch!
  if (session.key === null) throw new BatchFailure(415)
  const wrong = parts.find((part) => part.uploaded?.hash !== part.hash)
  if (wrong !== undefined) throw new BatchFailure(405, `Nieprawidłowy skrót części ${wrong.ordinal}.`)
  for (const { ordinal } of parts) {
    await decryptPart(session, state.files.part(session.reference, ordinal), archive, ordinal === 1)
  }
  if ((await hashOfFile(archive)) !== hash) throw new BatchFailure(405, "Nieprawidłowy skrót pliku paczki.")
}

interface Found {
  readonly name: string
  readonly hash: string
  readonly place: Place
}

// Documents that are larger than any limit allows; those in between are refused one by one.
const limitsOf = (maxInvoices: number) => ({
  maxDocuments: maxInvoices + 1,
  maxDocumentBytes: 16_000_000,
  maxBytes: 5_000_000_000
})

// Returns whether all were read: a simulator that ends stops between two of them.
const readDocuments = async (simulation: Simulation, session: Session, archive: string): Promise<boolean> => {
  const { limits, processing, state } = simulation
  const { maxInvoices } = limits.ofSessions(session.context).batchSession
  const found: Array<Found> = []
  for await (const { bytes, name } of documentsOf(archive, session.batch!.compression, limitsOf(maxInvoices))) {
    if (found.length === maxInvoices) throw new BatchFailure(420)
    found.push({ name, hash: Sha256.base64(bytes), place: state.files.add(bytes) })
    if (!(await processing.giveWay())) return false
  }
  for (const [index, document] of found.entries()) {
    state.invoices.add(received(simulation, session, index + 1, document))
  }
  return true
}

const received = (
  { clock, state }: Simulation,
  session: Session,
  ordinal: number,
  { hash, name, place }: Found
): Invoice => ({
  reference: state.serials.reference("invoice", clock.now()),
  session: session.reference,
  ordinal,
  hash,
  size: place[1],
  fileName: name.slice(-128),
  // A batch counts as received when it was opened.
  receivedAt: session.createdAt,
  offline: session.offline,
  correctedHash: null,
  document: place,
  verdict: null,
  visibleAt: clock.now(),
  held: null,
  header: null,
  ksefNumber: null,
  acceptedAt: null
})

const decideDocuments = async (simulation: Simulation, { reference }: Session): Promise<void> => {
  const { processing, state } = simulation
  const xml = await simulation.xml()
  for (const invoice of state.invoices.ofSession(reference)) {
    decideDocument(simulation, xml, invoice.reference)
    if (!(await processing.giveWay())) return
  }
  const { batch } = state.sessions.get(reference)!
  state.sessions.update(reference, { batch: { ...batch!, processed: true } })
}

const asFailure = (error: unknown): Status => {
  if (error instanceof BatchFailure) return error.status
  if (error instanceof ArchiveFault) return { code: 430, details: [error.message] }
  return { code: 500, details: [error instanceof Error ? error.message : String(error)] }
}

/**
 * Processes a batch that was closed, from where an earlier process left it. An error ends the batch, and nothing else.
 */
export const processBatch = async (simulation: Simulation, reference: string): Promise<void> => {
  const { state } = simulation
  const session = state.sessions.get(reference)!
  const archive = state.files.part(reference, "archive")
  try {
    if (state.invoices.countOf(reference) === 0) {
      await joinParts(simulation, session, archive)
      if (!(await readDocuments(simulation, session, archive))) return
    }
    await decideDocuments(simulation, session)
  } catch (error) {
    state.sessions.update(reference, { failure: asFailure(error) })
  } finally {
    rmSync(archive, { force: true })
    state.flush()
  }
}
