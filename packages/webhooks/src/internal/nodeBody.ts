/**
 * The body of a request of `node:http`, raw.
 *
 * @module
 */
import type { WebhookBody } from "../body.ts"

declare const Buffer: { concat(chunks: ReadonlyArray<Uint8Array>): Uint8Array }

/** A body that is still to be read. */
export interface NodeStream {
  readonly readableEnded?: boolean | undefined
  on(event: "data", listener: (chunk: Uint8Array) => void): this
  on(event: "end" | "error" | "close", listener: () => void): this
}

/** A request as `node:http` makes it, with what others may have put there. */
export interface NodeRequest extends NodeStream {
  readonly method?: string | undefined
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

/** Reads the stream, unless somebody has: then takes what they left in `rawBody`, or in a `body` that is not parsed. */
export const readNodeBody = async (
  request: NodeStream & { readonly rawBody?: unknown; readonly body?: unknown },
  maxBytes: number
): Promise<WebhookBody | undefined> => {
  const given = (request.rawBody ?? request.body ?? null) as Uint8Array
  if (given?.length || request.readableEnded) return given?.length > maxBytes ? undefined : given
  return new Promise((resolve) => {
    const chunks: Array<Uint8Array> = []
    // A body that breaks off has no signature that fits, and nobody to answer.
    const end = () => resolve(Buffer.concat(chunks))
    request
      .on("data", (chunk) => {
        maxBytes -= chunk.length
        if (maxBytes < 0) resolve(undefined)
        else chunks.push(chunk)
      })
      .on("end", end)
      .on("error", end)
      .on("close", end)
  })
}
