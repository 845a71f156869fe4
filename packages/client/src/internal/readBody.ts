/**
 * Reads the bodies of responses, up to a limit: whatever answers at `baseUrl` may send without end.
 *
 * @module
 */
import { DecodeError } from "../error.ts"
import type { FetchResponse } from "../fetch.ts"

declare const TextDecoder: (new () => { decode(bytes: Uint8Array): string }) | undefined

interface Stream {
  getReader?(): Reader
}

interface Reader {
  read(): Promise<{ readonly value?: Uint8Array }>
  cancel(): Promise<unknown>
}

/**
 * Resolves with the response when its body has arrived: at most 64 MiB, several times the largest page of invoices, or 1 MiB
 * of an error. Without a stream, as of a stub or of React Native, or without a decoder, as in jest-environment-jsdom, the response
 * reads itself, without a limit.
 *
 * @throws {DecodeError} if the body is larger
 */
export const readBody = async (response: FetchResponse): Promise<FetchResponse> => {
  const { headers, ok, status } = response
  const body = response.body as Stream | null | undefined
  if (typeof TextDecoder === "undefined" || !body?.getReader) return response
  const decoder = new TextDecoder()
  const reader = body.getReader()
  // One buffer that grows: in a list, chunks of one byte would take far more memory than the limit.
  let bytes = new Uint8Array()
  let size = 0
  for (;;) {
    const { value } = await reader.read()
    if (!value) break
    const end = size + value.length
    if (end > 2 ** (ok ? 26 : 20)) {
      reader.cancel().catch(() => {})
      throw new DecodeError("The response is too large. Check baseUrl and proxies.")
    }
    if (end > bytes.length) {
      const read = bytes
      bytes = new Uint8Array(2 * end)
      bytes.set(read)
    }
    bytes.set(value, size)
    size = end
  }
  bytes = bytes.slice(0, size)
  return {
    headers,
    ok,
    status,
    text: async () => decoder.decode(bytes),
    arrayBuffer: async () => bytes.buffer
  }
}
