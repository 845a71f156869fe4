/**
 * The archive of a batch: documents in a tar file, compressed with gzip.
 *
 * @since 0.1.0
 */
import { pipeline, Readable } from "node:stream"
import { createGunzip, createGzip } from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Tar from "effect/encoding/Tar"
import * as Stream from "effect/Stream"

/**
 * A file of the archive.
 *
 * @category models
 * @since 0.1.0
 */
export interface Document {
  readonly name: string
  readonly bytes: Uint8Array
}

/**
 * Bounds of an archive that is read. `maxBytes` counts the decompressed tar file, headers included, which bounds what a
 * small archive can inflate to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly maxDocuments: number
  readonly maxDocumentBytes: number
  readonly maxBytes: number
}

/**
 * An archive that cannot be read.
 *
 * **Details**
 *
 * - `not-gzip`: not compressed with gzip, or damaged.
 * - `truncated`: it ends too early.
 * - `not-tar`: what was compressed is not a tar file that is understood.
 * - `unsupported-entry`: a link, device or the like. Directories are skipped.
 * - `too-many-documents`, `document-too-large`, `archive-too-large`: over a limit.
 *
 * @category errors
 * @since 0.1.0
 */
export class ArchiveError extends Data.TaggedError("ArchiveError")<{
  readonly reason:
    | "not-gzip"
    | "truncated"
    | "not-tar"
    | "unsupported-entry"
    | "too-many-documents"
    | "document-too-large"
    | "archive-too-large"
  readonly message: string
}> {}

/**
 * Streams the archive of documents, each read when the archive has room for it. The same documents give the same bytes with the
 * same version of zlib: the headers carry neither times nor owners.
 *
 * @category encoding
 * @since 0.1.0
 */
export const pack = <E>(documents: Stream.Stream<Document, E>): Stream.Stream<Uint8Array, E | Tar.TarError> => {
  const tar = documents.pipe(
    Stream.map(({ bytes, name }) => Tar.file(name, bytes)),
    Stream.pipeThroughChannel(Tar.encode())
  )
  return Stream.unwrap(
    Effect.map(Stream.toAsyncIterableEffect(tar), (chunks) =>
      Stream.fromAsyncIterable(
        pipeline(Readable.from(chunks), createGzip(), ignore) as AsyncIterable<Uint8Array>,
        (cause) => cause as E | Tar.TarError
      )
    )
  )
}

/**
 * Streams the documents of an archive in their order. Nothing is written anywhere, so names may be any text.
 *
 * @category decoding
 * @since 0.1.0
 */
export const unpack = (
  archive: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  limits: Limits
): Stream.Stream<Document, ArchiveError> =>
  Stream.suspend(() => {
    const gunzip = pipeline(Readable.from(archive), createGunzip(), ignore) as AsyncIterable<Uint8Array>
    let documents = 0
    return Stream.fromAsyncIterable(gunzip, fromZlib).pipe(
      bounded(limits.maxBytes),
      Stream.pipeThroughChannel(Tar.decode<ArchiveError>()),
      Stream.filter(({ header }) => header.type !== "Directory"),
      Stream.mapEffect(({ body, header }) => {
        if (header.type !== "File")
          return refuse("unsupported-entry", `The archive has an entry of type ${header.type}`)
        if (++documents > limits.maxDocuments) {
          return refuse("too-many-documents", `The archive has more than ${limits.maxDocuments} documents`)
        }
        if (header.size > limits.maxDocumentBytes) {
          return refuse(
            "document-too-large",
            `A document has ${header.size} bytes, the limit is ${limits.maxDocumentBytes}`
          )
        }
        return Stream.runCollect(body).pipe(
          Effect.map((chunks): Document => ({ name: header.path, bytes: Buffer.concat(chunks) }))
        )
      }),
      Stream.mapError((error) => (Tar.isTarError(error) ? fromTar(error) : error))
    )
  })

// Errors reach the reader of the last stream.
const ignore = (): void => {}

const refuse = (reason: ArchiveError["reason"], message: string) => Effect.fail(new ArchiveError({ reason, message }))

const bounded =
  (maxBytes: number) =>
  (chunks: Stream.Stream<Uint8Array, ArchiveError>): Stream.Stream<Uint8Array, ArchiveError> => {
    let bytes = 0
    return Stream.mapEffect(chunks, (chunk) => {
      bytes += chunk.length
      return bytes > maxBytes
        ? refuse("archive-too-large", `The archive inflates to more than ${maxBytes} bytes`)
        : Effect.succeed(chunk)
    })
  }

const fromZlib = (cause: unknown): ArchiveError =>
  (cause as NodeJS.ErrnoException).code === "Z_BUF_ERROR"
    ? new ArchiveError({ reason: "truncated", message: "The compressed archive ends too early" })
    : new ArchiveError({ reason: "not-gzip", message: "The archive is not compressed with gzip, or damaged" })

const fromTar = ({ kind, message }: Tar.TarError): ArchiveError =>
  new ArchiveError({ reason: kind === "Truncated" ? "truncated" : "not-tar", message })
