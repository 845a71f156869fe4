/**
 * Reads the bodies of requests, within a bound that holds before anything is read where the length is declared.
 */
import type { IncomingMessage } from "node:http"
import { Refusal } from "./Reply.ts"

const tooLarge = (limit: number): Refusal =>
  new Refusal({ status: 413, detail: `Expected a body of at most ${limit} bytes.` })

/** Refuses a request whose declared length is over a limit. */
export const refuseDeclaredLength = (request: IncomingMessage, limit: number): void => {
  if (Number(request.headers["content-length"] ?? 0) > limit) throw tooLarge(limit)
}

/**
 * Reads a body of at most `limit` bytes.
 *
 * @throws {Refusal} when there are more, or the client stops before the end.
 */
export const readBody = async (request: IncomingMessage, limit: number): Promise<Buffer> => {
  refuseDeclaredLength(request, limit)
  const chunks: Array<Buffer> = []
  let length = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > limit) throw tooLarge(limit)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal({ status: 408, detail: "The request ended before its body did." })
  }
  return Buffer.concat(chunks, length)
}

/** Parses JSON, or returns `undefined`. */
export const parseJson = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown
  } catch {
    return undefined
  }
}
