/**
 * Reads bodies within their bounds.
 *
 * What is too large is refused before it is buffered; what is not JSON in UTF-8, or no object, is refused before anybody
 * decodes it. Large ones take turns, so that however many arrive at once, they fit into memory: until its turn comes, a
 * body stays with the client.
 *
 * @since 0.1.0
 */
import { Problems, Validation } from "@govoice/api"
import { ByteSize, Effect, Layer, Result, Semaphore } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"

/**
 * The largest body, in bytes: 4 MiB.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBytes = 4 * 1024 * 1024

// Smaller bodies are not counted: nobody waits for a turn that takes no room.
const smallBytes = 32 * 1024

// How many bytes of large bodies are in hand at once. A body takes some four times its bytes until it is answered. Nothing
// but a document is large for a good reason, so anybody's large bodies to the control plane keep no document waiting.
const roomBytes = { documents: 48 * 1024 * 1024, others: 2 * maxBytes }

const isJson = (contentType: string): boolean =>
  /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(contentType.trim())

const decoder = new TextDecoder("utf-8", { fatal: true })

const parseObject = (bytes: ArrayBuffer): string => {
  const text = decoder.decode(bytes)
  const value: unknown = JSON.parse(text)
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError("not an object")
  return text
}

// What decodes the body takes a text and parses it again: a microsecond for an invoice of the usual size, one in three
// hundred of its submission.
const withText = (request: HttpServerRequest.HttpServerRequest, text: string): HttpServerRequest.HttpServerRequest =>
  Object.create(request, { text: { value: Effect.succeed(text) } }) as HttpServerRequest.HttpServerRequest

/**
 * Layer that provides `BodyReading`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Validation.BodyReading> = Layer.sync(Validation.BodyReading, () => {
  const documents = Semaphore.makeUnsafe(roomBytes.documents)
  const others = Semaphore.makeUnsafe(roomBytes.others)

  return Effect.fnUntraced(function* (httpEffect, { group }) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const {
      "content-encoding": encoding = "identity",
      "content-length": length,
      "content-type": contentType = ""
    } = request.headers

    if (!isJson(contentType)) return yield* Problems.fail("unsupported_media_type")
    if (encoding.toLowerCase() !== "identity") {
      return yield* Problems.fail("unsupported_media_type", { message: "The request body must not be compressed." })
    }
    // Sent in chunks, it says no length, and may come to the most that is allowed.
    const mostBytes = length === undefined ? maxBytes : Number(length)
    if (mostBytes > maxBytes) return yield* Problems.fail("request_too_large")

    const handled = Effect.gen(function* () {
      const bytes = yield* request.arrayBuffer.pipe(
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
        Effect.result
      )
      if (Result.isFailure(bytes)) {
        const { reason } = bytes.failure
        if (reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge") {
          return yield* Problems.fail("request_too_large")
        }
        return yield* Problems.fail("invalid_request_body")
      }
      const text = Result.try(() => parseObject(bytes.success))
      if (Result.isFailure(text)) return yield* Problems.fail("invalid_request_body")

      return yield* Effect.provideService(
        httpEffect,
        HttpServerRequest.HttpServerRequest,
        withText(request, text.success)
      )
    })
    if (mostBytes <= smallBytes) return yield* handled
    return yield* (group.identifier === "invoices" ? documents : others).withPermits(mostBytes)(handled)
  })
})
