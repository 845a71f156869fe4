/**
 * The files of an invoice: receipt (UPO), document, PDF, QR code.
 *
 * @module
 * @since 0.1.0
 */
import { DecodeError } from "./error.ts"
import type { ByteStream, FetchResponse } from "./fetch.ts"
import { buildPath } from "./internal/buildPath.ts"
import { callOptions, checkOptions } from "./internal/checkOptions.ts"
import type { Send } from "./internal/transport.ts"
import type { CallOptions } from "./options.ts"

declare const Response: new (body: Uint8Array) => { readonly body: unknown; text(): Promise<string> }

// `Uint8Array<ArrayBuffer>`, or `Uint8Array` for TypeScript before 5.7, where it has no parameter.
type Bytes = ReturnType<Uint8ArrayConstructor["of"]>

/**
 * A file of an invoice, read completely.
 *
 * @category models
 * @since 0.1.0
 */
export interface Download {
  /** The file as text. */
  text(): Promise<string>
  /** The file, byte for byte. */
  bytes(): Promise<Bytes>
  /** The bytes of the file as a `ReadableStream`. */
  stream(): ByteStream
}

/**
 * Which QR code of an invoice is drawn, and how.
 *
 * @category models
 * @since 0.1.0
 */
export interface QrOptions extends CallOptions {
  /**
   * `1` for the code with which anybody can check the invoice (KOD I), `2` for that of the certificate of an invoice issued
   * offline (KOD II).
   *
   * @default 1
   */
  readonly code?: 1 | 2 | undefined
  /**
   * The format of the image.
   *
   * @default "svg"
   */
  readonly format?: "svg" | "png" | undefined
  /**
   * Whether the text that belongs below the code is part of the image.
   *
   * @default true
   */
  readonly label?: boolean | undefined
}

/** Reads the file of a response: XML, which an SVG image is too, PDF, or PNG. */
export const readFile = async (response: FetchResponse): Promise<Download> => {
  if (!/xml|pdf|png/.test(response.headers.get("content-type")!))
    throw new DecodeError("The response has no valid file. Check baseUrl and proxies.")
  const bytes = new Uint8Array(await response.arrayBuffer())
  return {
    text: () => new Response(bytes).text(),
    bytes: async () => bytes,
    stream: () => new Response(bytes).body as ByteStream
  }
}

/** Returns the operation that draws a QR code of the invoice at a path. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller states the signature of the operation
export const qr = <F>(path: string): F =>
  (async (connection: { readonly "~send": Send }, ...rest: Array<unknown>) => {
    const builtPath = buildPath(path, rest)
    const options = checkOptions(rest[0] as QrOptions, `code format label ${callOptions}`)
    const { code = 1, format = "svg", label = true } = options
    return connection["~send"]("GET", `${builtPath}/qr?code=${code}&format=${format}&label=${label}`, readFile, options)
  }) as F
