/**
 * The official receipt (UPO) of an invoice.
 *
 * @module
 * @since 0.1.0
 */
import { DecodeError } from "./error.ts"
import type { ByteStream, FetchResponse } from "./fetch.ts"

declare const Response: new (body: Uint8Array) => { readonly body: unknown; text(): Promise<string> }

/**
 * The official receipt (UPO) of an invoice, read completely.
 *
 * @category models
 * @since 0.1.0
 */
export interface Upo {
  /** The document as text. */
  text(): Promise<string>
  /** The document, byte for byte. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  /** The bytes of the document as a `ReadableStream`. */
  stream(): ByteStream
}

/** Reads the receipt of a response. */
export const readUpo = async (response: FetchResponse): Promise<Upo> => {
  if (!/xml/.test(response.headers.get("content-type")!))
    throw new DecodeError("The response has no valid XML. Check baseUrl and proxies.")
  const bytes = new Uint8Array(await response.arrayBuffer())
  return {
    text: () => new Response(bytes).text(),
    bytes: async () => bytes,
    stream: () => new Response(bytes).body as ByteStream
  }
}
