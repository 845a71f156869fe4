/**
 * The API under `/v2`: from a request to its answer.
 *
 * The order of checks is that of a gateway in front of a service: path, bearer, limits, permissions, form; then the operation.
 * Parts that are expensive to read are read last.
 */
import type { IncomingMessage } from "node:http"
import { plainAddress } from "../auth/addresses.ts"
import { authenticate, requirePermission } from "../auth/bearer.ts"
import { Blocks, type Silence, withFault } from "../faults/callFaults.ts"
import { parseJson, readBody, refuseDeclaredLength } from "../http/body.ts"
import type { Call } from "../http/Call.ts"
import { exceptionBody, refusalReply } from "../http/problems.ts"
import { badRequest, json, Refusal, type Reply } from "../http/Reply.ts"
import type { OpenApi } from "../openapi/openApi.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Operation, Router } from "../openapi/Router.ts"
import type { Checked, Validator } from "../openapi/Validator.ts"
import { refuseTooManyParts } from "../sessions/batchHandlers.ts"
import type { Simulation } from "../Simulation.ts"
import type { Login } from "../state/records.ts"
import { handlers } from "./handlers.ts"

/** A request and its response, as tests compare them with the OpenAPI document. */
export interface Exchange {
  readonly operation: Operation
  readonly contentType: string | undefined
  readonly body: unknown
  readonly reply: Reply
  readonly fault: string | null
}

interface Outcome {
  readonly reply: Reply | Silence
  readonly overLimit: boolean
}

// A document of ten megabytes, which is what `/testdata` can allow at most, in Base64, and the rest of the request.
const bodyLimits: Readonly<Partial<Record<OperationName, number>>> = {
  sendInvoice: 16_000_000,
  loginWithCertificate: 1_000_000
}
const bodyLimit = 262_144

/** The facts about a call that are known before it is complete. */
class Progress {
  operation = ""
  context: string | null = null
  fault: string | null = null
  body: unknown = undefined
  matched: Operation | undefined = undefined
}

/** Answers requests to the API. */
export class Api {
  readonly #simulation: Simulation
  readonly #router: Router
  readonly #validator: Validator
  readonly #blocks: Blocks
  readonly #observe: ((exchange: Exchange) => void) | undefined

  constructor(simulation: Simulation, { router, validator }: OpenApi, observe?: (exchange: Exchange) => void) {
    this.#simulation = simulation
    this.#router = router
    this.#validator = validator
    this.#blocks = new Blocks(simulation.clock.now)
    this.#observe = observe
  }

  /** Answers a request whose path, after `/v2`, is given. */
  async answer(request: IncomingMessage, path: string, query: URLSearchParams): Promise<Reply | Silence> {
    const { clock, ledger } = this.#simulation
    const startedAt = clock.now()
    const address = plainAddress(request.socket.remoteAddress)
    const progress = new Progress()
    progress.operation = `${request.method} ${path.slice(0, 200)}`
    const { overLimit, reply } = await this.#outcome(request, path, query, address, progress)
    ledger.record({
      startedAt,
      endedAt: clock.now(),
      operation: progress.operation,
      method: request.method ?? "",
      path: path.slice(0, 200),
      context: progress.context,
      address,
      status: typeof reply === "string" ? null : reply.status,
      fault: progress.fault,
      overLimit
    })
    if (progress.matched !== undefined && typeof reply !== "string") {
      this.#observe?.({
        operation: progress.matched,
        contentType: request.headers["content-type"],
        body: progress.body,
        reply,
        fault: progress.fault
      })
    }
    return reply
  }

  async #outcome(
    request: IncomingMessage,
    path: string,
    query: URLSearchParams,
    address: string,
    progress: Progress
  ): Promise<Outcome> {
    let leave: (() => void) | undefined
    try {
      const reply = await this.#carryOut(request, path, query, address, progress, (context) => {
        leave = this.#simulation.ledger.enter(context)
      })
      return { reply, overLimit: false }
    } catch (error) {
      const now = this.#simulation.clock.now()
      if (!(error instanceof Refusal)) return { reply: internalError(error, now), overLimit: false }
      const problemDetails = request.headers["x-error-format"] === "problem-details"
      const { refused } = error
      return {
        reply: refusalReply(refused, { path: `/v2${path}`, problemDetails, now }),
        overLimit: refused.status === 429 && refused.overLimit
      }
    } finally {
      leave?.()
    }
  }

  async #carryOut(
    request: IncomingMessage,
    path: string,
    query: URLSearchParams,
    address: string,
    progress: Progress,
    enter: (context: string) => void
  ): Promise<Reply | Silence> {
    const { operation, parameters } = this.#match(request.method ?? "", path)
    const { name } = operation
    if (name === undefined) throw notCarriedOut(operation.key)
    if (this.#simulation.options.environment !== "test" && path.startsWith("/testdata/")) throw notHere(path)
    progress.operation = name
    progress.matched = operation
    const login = this.#authenticate(operation, name, request, address)
    if (login !== undefined) {
      progress.context = login.context
      enter(login.context)
    }
    const blocked = this.#blocks.reply(progress.context, address)
    if (blocked !== undefined) {
      progress.fault = "block-403"
      return blocked
    }
    this.#admit(operation, login, address)
    if (login !== undefined) requirePermission(login, operation.definition["x-required-permissions"])
    const call: Call = {
      simulation: this.#simulation,
      operation,
      name,
      now: this.#simulation.clock.now(),
      address,
      headers: request.headers,
      path: this.#path(operation, parameters),
      query: this.#query(operation, query),
      body: await this.#body(operation, name, request, progress),
      login
    }
    progress.context ??= contextOf(call.body)
    const picked = this.#simulation.faults.take({ point: name, context: progress.context })
    const handle = async () => handlers[name](call)
    if (picked === undefined) return handle()
    progress.fault = picked.fault.do
    return withFault(picked.fault, call, this.#blocks, handle)
  }

  #match(method: string, path: string) {
    const match = this.#router.match(method, path)
    if (match._tag === "Operation") return match
    if (match._tag === "Unknown") throw notHere(path)
    throw new Refusal({ status: 405, detail: `Expected one of the methods ${match.allowed.join(", ")}.` })
  }

  #authenticate(
    { definition }: Operation,
    name: OperationName,
    request: IncomingMessage,
    address: string
  ): Login | undefined {
    if (definition.security === undefined) return undefined
    return authenticate(this.#simulation, name, request.headers.authorization, address)
  }

  #admit(operation: Operation, login: Login | undefined, address: string): void {
    const admission = this.#simulation.limits.admit(operation, login?.context ?? null, address)
    if (admission.ok) return
    throw new Refusal({
      status: 429,
      detail: admission.exceeded,
      retryAfterMs: admission.retryAfterMs,
      overLimit: true
    })
  }

  #path(operation: Operation, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return valid(this.#validator.parameters(operation, "path", given)) as Readonly<Record<string, string>>
  }

  #query(operation: Operation, query: URLSearchParams): Readonly<Record<string, unknown>> {
    const given: Record<string, unknown> = {}
    for (const name of new Set(query.keys())) {
      const values = query.getAll(name)
      given[name] = values.length === 1 ? values[0] : values
    }
    return valid(this.#validator.parameters(operation, "query", given)) as Readonly<Record<string, unknown>>
  }

  async #body(
    operation: Operation,
    name: OperationName,
    request: IncomingMessage,
    progress: Progress
  ): Promise<unknown> {
    const limit = bodyLimits[name] ?? bodyLimit
    const declared = operation.definition.requestBody?.content
    if (declared === undefined) {
      refuseDeclaredLength(request, limit)
      return undefined
    }
    const bytes = await readBody(request, limit)
    if ("application/xml" in declared) {
      if (bytes.length === 0) throw badRequest(21001)
      progress.body = bytes
      return bytes
    }
    const body = parseJson(bytes)
    if (body === undefined) throw badRequest(21405, "body: oczekiwano dokumentu JSON.")
    progress.body = body
    if (name === "openBatchSession") refuseTooManyParts(body)
    return valid(this.#validator.body(operation, body))
  }
}

const valid = (checked: Checked): unknown => {
  if (!checked.ok) throw badRequest(21405, checked.fault)
  return checked.value
}

const contextOf = (body: unknown): string | null => {
  const identifier = (
    body as { readonly contextIdentifier?: { readonly type?: unknown; readonly value?: unknown } } | null
  )?.contextIdentifier
  return typeof identifier?.value === "string" ? identifier.value : null
}

const notCarriedOut = (key: string): Refusal =>
  new Refusal({
    status: 501,
    detail: `The simulator does not carry out ${key}. It is part of KSeF, and no fault of the request.`
  })

const notHere = (path: string): Refusal =>
  new Refusal({ status: 404, detail: `There is no ${path} in the OpenAPI document of KSeF.` })

const internalError = (error: unknown, now: number): Reply => {
  console.error("KSeF simulator: internal error", error)
  return json(500, exceptionBody(500, "Internal error of the simulator.", [String(error)], now))
}
