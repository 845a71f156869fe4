/**
 * Reads the body of a request within its limits of size and time. Passes a body with a document on as bytes, and the text of
 * any other one that is a JSON object in UTF-8.
 */
import { AccountAuthorization, CurrentRequestId, DeveloperAuthorization, Problems, Validation } from "@govoice/api"
import { Cause, Context, Effect, Exit, Layer, Option, Result } from "effect"
import { Headers, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { mayHaveEscapedName, parseJson } from "../../invoices/parseJson.ts"
import type { Throttled } from "../../limits/Throttled.ts"
import * as Responses from "../Responses.ts"
import * as ByteBudget from "../../limits/ByteBudget.ts"
import * as BodyReader from "../transport/BodyReader.ts"
import { isSameOrigin } from "../transport/Origin.ts"
import { AddressLimits, type LimitedCall } from "./AddressLimits.ts"
import * as Throttling from "./Throttling.ts"

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** The maximum size of a body with a document, in bytes. */
export const maxDocumentBodyBytes = 4 * mebibyte

/** The body with a document. */
export const CurrentDocumentBody = Context.Reference<Buffer<ArrayBuffer>>("@govoice/server/http/CurrentDocumentBody", {
  defaultValue: () => Buffer.alloc(0)
})

interface BodyClass {
  readonly maxBytes: number
  readonly memory: ByteBudget.ByteBudget
}

// A body takes about four times its bytes until it is answered. Bodies of the control plane have memory of their own: they
// never delay a document.
const makeClasses = () => {
  const control = ByteBudget.make({ totalBytes: 8 * mebibyte, ownerBytes: 2 * mebibyte, bodyBytes: 256 * kibibyte })
  return {
    documents: {
      maxBytes: maxDocumentBodyBytes,
      memory: ByteBudget.make({
        totalBytes: 48 * mebibyte,
        ownerBytes: 12 * mebibyte,
        bodyBytes: maxDocumentBodyBytes
      })
    },
    control: { maxBytes: 256 * kibibyte, memory: control },
    credentials: { maxBytes: 16 * kibibyte, memory: control }
  } satisfies Record<string, BodyClass>
}

// The calls without a credential, and what each counts as for its address. Every one counts before anything of it is read,
// whatever the answer is. A refresh of the console counts when it fails: all pages of an office refresh from one address.
const withoutCredential: Readonly<Record<string, { readonly kind: LimitedCall; readonly onlyFailures?: true }>> = {
  "accounts.create": { kind: "signup" },
  "accounts.login": { kind: "login" },
  "accounts.refresh": { kind: "refresh" },
  "accounts.logout": { kind: "logout" },
  "consoleSession.open": { kind: "login" },
  "consoleSession.requestReset": { kind: "password-reset" },
  "consoleSession.resetPassword": { kind: "login" },
  "consoleSession.refresh": { kind: "console-refresh", onlyFailures: true }
}

// A request without a body is like one with an empty object.
const withOptionalBody = ["webhookEndpoints.rotateSecret"]

const hasBody = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

const isJson = (contentType: string): boolean =>
  /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(contentType.trim())

const decoder = new TextDecoder("utf-8", { fatal: true })

const parseObject = (bytes: Uint8Array): string => {
  const text = decoder.decode(bytes)
  const value = parseJson(text)
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError("not an object")
  // The decoder of the payload uses `JSON.parse`: names have no escapes for it.
  return mayHaveEscapedName(text) ? JSON.stringify(value) : text
}

// `Object.create` replaces one property of the request, in one line. `HttpServerRequest.fromWeb` would lose the addresses, the
// original URL and the source, and costs 11 µs more. Bodies with documents do not come here.
//
// The decoder of the payload parses the text again: one microsecond for a body of the usual size.
const withText = (request: HttpServerRequest.HttpServerRequest, text: string): HttpServerRequest.HttpServerRequest =>
  Object.create(request, { text: { value: Effect.succeed(text) } }) as HttpServerRequest.HttpServerRequest

// Without a body, the content type says nothing.
const withEmptyObject = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  Object.create(withText(request, "{}"), {
    headers: { value: Headers.set(request.headers, "content-type", "application/json") }
  }) as HttpServerRequest.HttpServerRequest

const formatBytes = (bytes: number): string =>
  bytes < mebibyte ? `${bytes / kibibyte} KiB` : `${bytes / mebibyte} MiB`

const tooLarge = (maxBytes: number) =>
  Problems.fail("request_too_large", {
    message: `The request body is larger than ${formatBytes(maxBytes)}. Send a smaller one.`
  })

const bodyDiscarded =
  "The request body arrived slowly, and the server needed its memory for others. Send the request again."

const chunksTooSmall =
  "The request body came in chunks of a few bytes each. Send it with Content-Length, or in larger chunks."

// The rest of the body is not read, so the connection cannot be used again.
const closeConnection = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "connection", "close"))
)

const failWith = (fault: BodyReader.BodyFault, maxBytes: number) =>
  Effect.gen(function* () {
    if (fault === "too-large") return yield* tooLarge(maxBytes)
    if (fault === "aborted") return yield* Problems.fail("invalid_request_body")
    yield* closeConnection
    if (fault === "chunks-too-small") return yield* Problems.fail("invalid_request_body", { message: chunksTooSmall })
    if (fault === "no-turn") return yield* Throttling.failWithoutTurn
    return yield* Problems.fail("request_timeout", fault === "memory-exhausted" ? { message: bodyDiscarded } : {})
  })

// Whose share of the memory a body takes: the organization of the API key, or the account.
const currentOwner = Effect.gen(function* () {
  const key = yield* Effect.serviceOption(DeveloperAuthorization.CurrentApiKey)
  if (Option.isSome(key)) return key.value.organizationId
  return Option.getOrElse(yield* Effect.serviceOption(AccountAuthorization.CurrentAccount), () => "nobody")
})

type Read = Validation.BodyReading["Service"]
type Options = Parameters<Read>[1]

const nameOf = ({ endpoint, group }: Options): string => `${group.identifier}.${endpoint.identifier}`

const classOf = (options: Options): keyof ReturnType<typeof makeClasses> => {
  if (options.group.identifier === "invoices") return "documents"
  return withoutCredential[nameOf(options)] === undefined ? "control" : "credentials"
}

// What the head of a request tells of its body.
const checkHead = Effect.fnUntraced(function* (headers: Headers.Headers, maxBytes: number) {
  const {
    "content-encoding": encoding = "identity",
    "content-length": length = "0",
    "content-type": contentType = ""
  } = headers
  if (!isJson(contentType)) return yield* Problems.fail("unsupported_media_type")
  if (encoding.toLowerCase() !== "identity") {
    return yield* Problems.fail("unsupported_media_type", { message: "The request body must not be compressed." })
  }
  if (Number(length) > maxBytes) return yield* tooLarge(maxBytes)
})

const passOn = Effect.fnUntraced(function* (
  httpEffect: Parameters<Read>[0],
  { group }: Options,
  request: HttpServerRequest.HttpServerRequest,
  body: Buffer<ArrayBuffer>
) {
  // `SubmissionReader` decodes bodies with documents.
  if (group.identifier === "invoices") return yield* Effect.provideService(httpEffect, CurrentDocumentBody, body)
  const text = Result.try(() => parseObject(body))
  if (Result.isFailure(text)) return yield* Problems.fail("invalid_request_body")
  return yield* Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, withText(request, text.success))
})

const answerTooMany = (throttled: Throttled) =>
  Effect.map(CurrentRequestId, (requestId) => {
    const { headers, message } = Throttling.refusalOf(throttled)
    return Responses.problem("rate_limit_exceeded", requestId, headers, { message })
  })

// A session that refreshes too often is not a failure of its address.
const isFailure = (exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>): boolean => {
  if (Exit.isSuccess(exit)) return exit.value.status >= 400 && exit.value.status !== 429
  const error = Cause.squash(exit.cause)
  return Problems.is(error) && error.error.code !== "rate_limit_exceeded"
}

// A page of any site can have the browser of its reader send what is no JSON, as a form does. Its answer is known by its head:
// it does not count, or the page would use up the limit of the reader's address.
const isFormOfOtherSite = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  (headers["sec-fetch-site"] ?? headers["origin"]) !== undefined &&
  !isSameOrigin(headers) &&
  !isJson(headers["content-type"] ?? "")

/** Provides `BodyReading`. */
export const layer = Layer.effect(
  Validation.BodyReading,
  Effect.gen(function* () {
    const classes = makeClasses()
    const reader = yield* BodyReader.make(BodyReader.limits)
    const addressLimits = yield* AddressLimits

    const read: Read = Effect.fnUntraced(function* (httpEffect, options) {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (withOptionalBody.includes(nameOf(options)) && !hasBody(request)) {
        return yield* Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, withEmptyObject(request))
      }
      const { maxBytes, memory } = classes[classOf(options)]
      yield* checkHead(request.headers, maxBytes)
      const owner = yield* currentOwner
      return yield* reader.withBody(
        request,
        { maxBytes, memory, owner },
        {
          onBody: (body) => passOn(httpEffect, options, request, body),
          onFault: (fault) => failWith(fault, maxBytes)
        }
      )
    })

    return Validation.BodyReading.of((httpEffect, options) => {
      const limited = withoutCredential[nameOf(options)]
      const served = read(httpEffect, options)
      if (limited === undefined) return served
      const { kind, onlyFailures } = limited
      return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        if (isFormOfOtherSite(request)) return served
        const address = Option.getOrUndefined(request.remoteAddress)
        const count = addressLimits.take(kind, address)
        return Effect.matchEffect(onlyFailures ? addressLimits.check(kind, address) : count, {
          onFailure: answerTooMany,
          onSuccess: () =>
            onlyFailures
              ? Effect.onExit(served, (exit) => (isFailure(exit) ? Effect.ignore(count) : Effect.void))
              : served
        })
      })
    })
  })
)
