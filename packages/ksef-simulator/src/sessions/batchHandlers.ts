/**
 * The batch: open, upload of its parts, close.
 */
import { createHash } from "node:crypto"
import { createWriteStream, renameSync, rmSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { pipeline } from "node:stream/promises"
import { processBatch } from "../batch/processBatch.ts"
import { authorized, type Handler } from "../http/Call.ts"
import { refuseDeclaredLength } from "../http/body.ts"
import { badRequest, empty, json, Refusal } from "../http/Reply.ts"
import { lifetimes } from "../lifetimes.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Simulation } from "../Simulation.ts"
import type { Part, Session } from "../state/records.ts"
import { closeFailure } from "./closeFailure.ts"
import { sessionToUse } from "./findSession.ts"
import { type Encryption, type FormCode, newSession } from "./openSession.ts"
import { statusOfSession } from "./sessionStatus.ts"

/** How many parts a batch has at most. */
export const maxParts = 50

/** How large a part is at most before it is encrypted, in bytes. */
export const maxPartSize = 100_000_000

// PKCS#7 pads to the next multiple of 16, by a whole block where it is one already.
const maxEncryptedPartSize = maxPartSize + 16

interface OpenBody {
  readonly formCode: FormCode
  readonly encryption: Encryption
  readonly offlineMode?: boolean
  readonly batchFile: {
    readonly fileSize: number
    readonly fileHash: string
    readonly compressionType?: "Zip" | "TarGz" | null
    readonly fileParts: ReadonlyArray<{
      readonly ordinalNumber: number
      readonly fileSize: number
      readonly fileHash: string
    }>
  }
}

/** Refuses a list of parts that is too long, before its form is checked: it has a code of its own. */
export const refuseTooManyParts = (body: unknown): void => {
  const parts = (body as Partial<OpenBody> | null)?.batchFile?.fileParts
  if (Array.isArray(parts) && parts.length > maxParts) {
    throw badRequest(21161, `Liczba części ${parts.length} przekracza dozwoloną liczbę ${maxParts}.`)
  }
}

const partsOf = ({ batchFile }: OpenBody): ReadonlyArray<Part> => {
  const parts = batchFile.fileParts
    .map(({ fileHash, fileSize, ordinalNumber }) => ({
      ordinal: ordinalNumber,
      size: fileSize,
      hash: fileHash,
      uploaded: null
    }))
    .sort((left, right) => left.ordinal - right.ordinal)
  if (parts.some(({ ordinal }, index) => ordinal !== index + 1)) {
    throw badRequest(21405, "batchFile.fileParts: numery części muszą być kolejnymi liczbami od 1.")
  }
  const tooLarge = parts.find(({ size }) => size > maxEncryptedPartSize)
  if (tooLarge !== undefined) {
    throw badRequest(
      21157,
      `Rozmiar części ${tooLarge.ordinal} (${tooLarge.size}) przekracza ${maxEncryptedPartSize} bajtów.`
    )
  }
  return parts
}

const openBatchSession = authorized((call) => {
  const { now, simulation } = call
  const { clock, links, state } = simulation
  const body = call.body as OpenBody
  const parts = partsOf(body)
  const uploadMs = clock.scaled(lifetimes.partUpload) * parts.length
  const session: Session = {
    ...newSession(call, "batch", body.formCode, body.encryption),
    offline: body.offlineMode === true,
    validUntil: now + uploadMs,
    batch: {
      size: body.batchFile.fileSize,
      hash: body.batchFile.fileHash,
      compression: body.batchFile.compressionType ?? "Zip",
      parts,
      processed: false
    }
  }
  state.sessions.set(session.reference, session)
  return json(201, {
    referenceNumber: session.reference,
    partUploadRequests: parts.map(({ ordinal }) => ({
      ordinalNumber: ordinal,
      method: "PUT",
      url: links.make(`parts/${session.reference}/${ordinal}`, "w", uploadMs).url,
      headers: { "x-ms-blob-type": "BlockBlob" }
    }))
  })
})

/** Stores a part that is uploaded. A later upload of the same part replaces an earlier one. */
export const storePart = async (
  { clock, state }: Simulation,
  request: IncomingMessage,
  reference: string,
  ordinal: number
): Promise<void> => {
  const session = state.sessions.get(reference)
  const part = session?.batch?.parts[ordinal - 1]
  if (session?.closedAt !== null || part === undefined) {
    throw new Refusal({ status: 404, detail: "There is no such part to upload." })
  }
  refuseDeclaredLength(request, maxEncryptedPartSize)
  const hash = createHash("sha256")
  let size = 0
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > maxEncryptedPartSize) {
        throw new Refusal({ status: 413, detail: `Expected a part of at most ${maxEncryptedPartSize} bytes.` })
      }
      hash.update(chunk)
      yield chunk
    }
  }
  const unfinished = state.files.part(reference, `${ordinal}-${state.serials.digits("upload", 8)}`)
  try {
    await pipeline(request, counted, createWriteStream(unfinished, { mode: 0o600 }))
  } catch (error) {
    rmSync(unfinished, { force: true })
    if (error instanceof Refusal) throw error
    throw new Refusal({ status: 408, detail: "The request ended before its body did." })
  }
  renameSync(unfinished, state.files.part(reference, ordinal))
  const now = state.sessions.get(reference)!
  const parts = now.batch!.parts.map((one) =>
    one.ordinal === ordinal ? { ...one, uploaded: { size, hash: hash.digest("base64") } } : one
  )
  state.sessions.update(reference, { updatedAt: clock.now(), batch: { ...now.batch!, parts } })
}

const closeBatchSession = authorized(({ login, now, path, simulation }) => {
  const { processing, state } = simulation
  const session = sessionToUse(simulation, login, path["referenceNumber"]!, "batch")
  const status = statusOfSession(simulation, session).code
  if (session.closedAt === null && status === 440) {
    throw badRequest(21208, "Sesja anulowana, przekroczony czas wysyłki.")
  }
  if (status !== 100) throw badRequest(21180, `Status sesji ${status} uniemożliwia jej zamknięcie.`)
  for (const { ordinal, size, uploaded } of session.batch!.parts) {
    if (uploaded === null) throw badRequest(21205, `Nie przesłano zadeklarowanej '${ordinal}' części pliku.`)
    if (uploaded.size !== size) {
      throw badRequest(21157, `Zadeklarowany rozmiar części '${ordinal}' nie zgadza się z rzeczywistym.`)
    }
  }
  const failure = closeFailure(simulation, session)
  state.sessions.update(session.reference, { closedAt: now, updatedAt: now, failure })
  if (failure === null) processing.start(() => processBatch(simulation, session.reference))
  return empty(204)
})

/** The handlers of batches. */
export const batchHandlers = {
  openBatchSession,
  closeBatchSession
} as const satisfies Partial<Record<OperationName, Handler>>
