/**
 * Reads the raw body of a `node:http` request.
 *
 * @module
 */
import type { WebhookBody } from "../body.ts"
import { encode } from "./platform.ts"

declare const Buffer: { concat(chunks: ReadonlyArray<Uint8Array>): Uint8Array }

/**
 * The part of the stream of a body that the adapters use.
 *
 * @category models
 * @since 0.1.0
 */
export interface NodeStream {
  readonly readableEnded?: boolean | undefined
  readonly readableDidRead?: boolean | undefined
  readonly readableEncoding?: string | null | undefined
  readonly destroyed?: boolean | undefined
  on(event: "data", listener: (chunk: Uint8Array) => void): this
  on(event: "end" | "error" | "close" | "readable", listener: () => void): this
  read?(): unknown
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

/**
 * Returns `rawBody` or `body` if other middleware has read the stream, otherwise reads the stream. Resolves with `undefined` for
 * more than `maxBytes`, with something that is not raw if bytes are lost, and with what arrived if the stream breaks off: that
 * fails verification, and the connection is closed anyway.
 */
export const readNodeBody = async (
  request: NodeStream & { readonly rawBody?: unknown; readonly body?: unknown },
  maxBytes: number
): Promise<WebhookBody | undefined> => {
  const given = (request.rawBody ?? request.body ?? null) as Uint8Array
  if (given?.length || request.readableDidRead || request.readableEnded)
    return given?.length > maxBytes ? undefined : given
  return new Promise((resolve) => {
    let chunks: Array<Uint8Array> = []
    const end = () => resolve(Buffer.concat(chunks))
    request
      .on("data", (chunk: Uint8Array | string) => {
        // Other encodings than UTF-8 lose bytes.
        const bytes = typeof chunk === "string" && request.readableEncoding === "utf8" ? encode(chunk) : chunk
        if (typeof bytes === "string" || bytes[Symbol.toStringTag] !== "Uint8Array") resolve(null!)
        else if ((maxBytes -= bytes.length) < 0) resolve(undefined)
        // The sender chooses the chunks, and each takes some hundred bytes: single bytes would take 200 MiB for one.
        else if (chunks.push(bytes) > 9999) chunks = [Buffer.concat(chunks)]
      })
      .on("end", end)
      .on("error", end)
      .on("close", end)
      // A stream that was paused, or that has another reader, does not flow. Reading emits `data`.
      .on("readable", () => {
        while (request.read?.());
      })
    // It emits no more.
    if (request.destroyed) end()
  })
}
