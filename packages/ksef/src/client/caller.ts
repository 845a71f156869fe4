/**
 * Makes the requests of a client: headers, addresses, deadlines; one span and one log line for each call.
 */
import * as tls from "node:tls"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { operations, type Operation } from "../protocol/Operation.ts"
import * as answers from "./answers.ts"
import { Connections } from "./connections.ts"
import * as Environment from "./Environment.ts"
import { exchange, type Request, type Response } from "./exchange.ts"
import { type Call, KsefError } from "./KsefError.ts"
import { guardedLookup } from "./lookup.ts"
import type { ResolvedOptions } from "./Options.ts"
import { makeWarningLog } from "./warnings.ts"

/** The parts that an operation adds to its definition. */
export interface OperationRequest {
  readonly bearer?: Redacted.Redacted | undefined
  readonly parameters?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: { readonly type: string; readonly bytes: Uint8Array } | undefined
  readonly accept?: string
  readonly maxBytes?: number
}

/** A request to an address that KSeF handed out, or to the beacon. It carries no token. */
export interface PlainRequest {
  readonly method: "GET" | "POST" | "PUT"
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly maxBytes: number
  readonly timeoutMs: number
}

export const maxJsonBytes = 8 * 1024 * 1024

const connectTimeoutMs = 10_000

export class Caller {
  readonly options: ResolvedOptions
  readonly #connections: Connections
  readonly #logWarnings = makeWarningLog()

  constructor(options: ResolvedOptions) {
    this.options = options
    this.#connections = new Connections({
      lookup: guardedLookup(options.resolve, options.environment.isPublic),
      secureContext: tls.createSecureContext({
        minVersion: "TLSv1.2",
        ...(options.ca === undefined ? {} : { ca: options.ca })
      }),
      connectTimeoutMs: Math.min(connectTimeoutMs, options.timeoutMs),
      proxy: options.proxy
    })
  }

  close(): void {
    this.#connections.close()
  }

  /** Calls an operation of the API. */
  operation(operation: Operation, request: OperationRequest = {}): Effect.Effect<Response, KsefError> {
    return Effect.suspend(() => {
      const { method, path } = operations[operation]
      const url = new URL(`${this.options.environment.baseUrl}${filled(path, request.parameters ?? {})}`)
      for (const [name, value] of Object.entries(request.query ?? {})) {
        if (value !== undefined) url.searchParams.set(name, String(value))
      }
      const { bearer, body } = request
      return this.#call(operation, path, {
        method,
        url,
        headers: defined({
          ...this.#headers(request.accept ?? "application/json"),
          "x-error-format": "problem-details",
          authorization: bearer === undefined ? undefined : `Bearer ${Redacted.value(bearer)}`,
          "content-type": body?.type,
          ...request.headers
        }),
        body: body?.bytes,
        maxBytes: request.maxBytes ?? maxJsonBytes,
        timeoutMs: this.options.timeoutMs
      })
    })
  }

  /** Calls an address that KSeF handed out, if it may be called. */
  handedOut(call: Call, request: PlainRequest): Effect.Effect<Response, KsefError> {
    if (Environment.mayCall(this.options.environment, request.url)) return this.plain(call, request)
    return Effect.fail(
      new KsefError({
        call,
        outcome: "unsent",
        reason: "address-refused",
        message: `${call}: KSeF handed out an address that may not be called`
      })
    )
  }

  plain(call: Call, request: PlainRequest): Effect.Effect<Response, KsefError> {
    // The path of a handed-out address is a secret.
    return this.#call(call, undefined, {
      method: request.method,
      url: new URL(request.url),
      headers: { ...request.headers, ...this.#headers("*/*") },
      body: request.body,
      maxBytes: request.maxBytes,
      timeoutMs: request.timeoutMs
    })
  }

  #headers(accept: string): Record<string, string> {
    return { accept, "user-agent": this.options.userAgent }
  }

  #call(call: Call, template: string | undefined, request: Request): Effect.Effect<Response, KsefError> {
    const attributes = {
      "http.request.method": request.method,
      ...(template === undefined ? {} : { "url.template": template })
    }
    return Effect.suspend(() => {
      const startedAt = performance.now()
      return exchange(this.#connections, request).pipe(
        Effect.mapError((failure) => answers.withoutAnswer(call, failure)),
        Effect.tap((response) => this.#logWarnings(call, answers.header(response, "x-system-warning"))),
        Effect.flatMap((response) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => answers.succeeded(call, response, now))
        ),
        Effect.tapError((error) => logged(error, performance.now() - startedAt, template)),
        Effect.tap(({ status }) => logged({ call, status }, performance.now() - startedAt, template)),
        Effect.withSpan(`ksef.${call}`, { kind: "client", attributes })
      )
    })
  }
}

const logged = (
  outcome: Pick<KsefError, "call" | "status"> & Partial<Pick<KsefError, "reason" | "problem">>,
  durationMs: number,
  template: string | undefined
): Effect.Effect<void> => {
  const { call, problem, reason, status } = outcome
  const codes = problem?.errors.map(({ code }) => code).join(",")
  const fields = {
    call,
    path: template,
    status,
    reason,
    codes,
    traceId: problem?.traceId,
    durationMs: Math.round(durationMs)
  }
  return Effect.logDebug("KSeF was called").pipe(
    Effect.annotateLogs(
      Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""))
    )
  )
}

const filled = (template: string, parameters: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name] ?? ""
    // A URL reads an empty segment and segments of dots as another path.
    if (value === "" || /^\.+$/.test(value)) throw new RangeError(`Expected a ${name}, got ${JSON.stringify(value)}`)
    return encodeURIComponent(value)
  })

const defined = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined))
