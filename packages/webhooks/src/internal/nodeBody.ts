/**
 * Reads the raw body of a `node:http` request.
 *
 * @module
 */
import type { WebhookBody } from "../body.ts"

declare const Buffer: { concat(chunks: ReadonlyArray<Uint8Array>): Uint8Array }

/** The stream of the body. */
export interface NodeStream {
  readonly readableEnded?: boolean | undefined
  on(event: "data", listener: (chunk: Uint8Array) => void): this
  on(event: "end" | "error" | "close", listener: () => void): this
}

/**
 * The part of an `IncomingMessage` that the handler uses.
 *
 * @category models
 * @since 0.1.0
 */
export interface NodeRequest extends NodeStream {
  readonly method?: string | undefined
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

/** Returns `rawBody` or `body` if other middleware has read the stream, otherwise reads the stream. */
export const readNodeBody = async (
  request: NodeStream & { readonly rawBody?: unknown; readonly body?: unknown },
  maxBytes: number
): Promise<WebhookBody | undefined> => {
  const given = (request.rawBody ?? request.body ?? null) as Uint8Array
  if (given?.length || request.readableEnded) return given?.length > maxBytes ? undefined : given
  return new Promise((resolve) => {
    const chunks: Array<Uint8Array> = []
    // A truncated body fails verification, and the connection is closed anyway.
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
