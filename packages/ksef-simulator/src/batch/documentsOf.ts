/**
 * Reads the documents of an archive, ZIP or tar.gz, one after the other. The inflated size is limited, and an entry with more
 * bytes than it states is an error.
 */
import { createReadStream } from "node:fs"
import type { Readable } from "node:stream"
import { TarGz } from "@govoice/ksef/crypto"
import * as Stream from "effect/Stream"
import { type Entry, openPromise, type ZipFile } from "yauzl"

/** A document of an archive. */
export interface ArchiveDocument {
  readonly name: string
  readonly bytes: Uint8Array
}

/** An archive that cannot be read. */
export class ArchiveFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = "ArchiveFault"
  }
}

/** The limits of an archive. */
export interface ArchiveLimits {
  readonly maxDocuments: number
  /** In bytes, of one document. */
  readonly maxDocumentBytes: number
  /** In bytes, of everything that is inflated. */
  readonly maxBytes: number
}

/**
 * Reads the documents of the archive at a path, in their order. Directories are skipped.
 *
 * @throws {ArchiveFault} when it is damaged, or holds more than the limits allow.
 */
export const documentsOf = (
  path: string,
  compression: "Zip" | "TarGz",
  limits: ArchiveLimits
): AsyncIterable<ArchiveDocument> => (compression === "Zip" ? ofZip(path, limits) : ofTarGz(path, limits))

async function* ofTarGz(path: string, limits: ArchiveLimits): AsyncIterable<ArchiveDocument> {
  const archive = createReadStream(path) as AsyncIterable<Buffer>
  try {
    yield* Stream.toAsyncIterable(TarGz.unpack(archive, limits))
  } catch (error) {
    throw new ArchiveFault(error instanceof Error ? error.message : String(error))
  }
}

async function* ofZip(path: string, limits: ArchiveLimits): AsyncIterable<ArchiveDocument> {
  const zip = await openPromise(path, { autoClose: false, validateEntrySizes: true }).catch(refuse)
  let documents = 0
  let inflated = 0
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith("/")) continue
      documents += 1
      inflated += entry.uncompressedSize
      if (documents > limits.maxDocuments) throw new Error(`The archive has more than ${limits.maxDocuments} documents`)
      if (inflated > limits.maxBytes) throw new Error(`The archive inflates to more than ${limits.maxBytes} bytes`)
      if (entry.uncompressedSize > limits.maxDocumentBytes) {
        throw new Error(`A document has ${entry.uncompressedSize} bytes, the limit is ${limits.maxDocumentBytes}`)
      }
      yield { name: entry.fileName, bytes: await bytesOf(zip, entry) }
    }
  } catch (error) {
    refuse(error)
  } finally {
    zip.close()
  }
}

// The library ends a stream that has more bytes than its entry declares.
const bytesOf = async (zip: ZipFile, entry: Entry): Promise<Buffer> => {
  const stream: Readable = await zip.openReadStreamPromise(entry)
  const chunks: Array<Buffer> = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const refuse = (error: unknown): never => {
  throw new ArchiveFault(error instanceof Error ? error.message : String(error))
}
