/**
 * The effect of a fault on a call.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { Call } from "../http/Call.ts"
import { type ExceptionCode, isExceptionCode } from "../http/exceptions.ts"
import { exceptionBody } from "../http/problems.ts"
import { badRequest, forbidden, json, Refusal, type Reply, unauthorized } from "../http/Reply.ts"
import type { OutsideOperationName } from "../openapi/operations.ts"
import type { Simulation } from "../Simulation.ts"
import type { Fault } from "./Fault.ts"

/** The connection is cut, or left without an answer. */
export type Silence = "cut" | "stall"

/** The result of a call with a fault. `handle` carries it out. */
export type FaultedReply = Reply | Silence

/** The page that a firewall or a proxy in front of KSeF answers with. */
export const htmlPage = (status: number): Reply => ({
  status,
  headers: { "content-type": "text/html" },
  body: `<html>\r\n<head><title>${status}</title></head>\r\n<body>\r\n<center><h1>${status}</h1></center>\r\n<hr><center>Request unsuccessful. Incident ID: simulated</center>\r\n</body>\r\n</html>\r\n`
})

const blockedPage = (address: string, detail = "This request was blocked by our security service"): Reply =>
  json(403, {
    title: "Request blocked",
    status: 403,
    detail,
    security: { incidentId: "simulated", clientIp: address }
  })

const refusalOf = (code: number, details: ReadonlyArray<string>): Refusal | Reply =>
  isExceptionCode(code)
    ? badRequest(code, ...details)
    : json(400, exceptionBody(code, `Simulated exception ${code}.`, details, Date.now()))

const raise = (code: ExceptionCode, ...details: ReadonlyArray<string>): never => {
  throw badRequest(code, ...details)
}

/** Blocks that are under way, by context. */
export class Blocks {
  readonly #now: () => number
  readonly #blocks = new Map<string, { readonly until: number; readonly detail: string | undefined }>()

  constructor(now: () => number) {
    this.#now = now
  }

  set(context: string | null, ms: number, detail: string | undefined): void {
    if (ms > 0) this.#blocks.set(context ?? "", { until: this.#now() + ms, detail })
  }

  /** The answer of the firewall while a context is blocked. */
  reply(context: string | null, address: string): Reply | undefined {
    const now = this.#now()
    const block = [this.#blocks.get(context ?? ""), this.#blocks.get("")].find(
      (one) => one !== undefined && now < one.until
    )
    return block === undefined ? undefined : blockedPage(address, block.detail)
  }
}

const revokeTokenOf = ({ login, simulation }: Call): void => {
  const reference = login?.tokenReference
  if (typeof reference === "string") simulation.state.tokens.update(reference, { revoked: true })
}

const expireAccess = ({ login, now, simulation }: Call): never => {
  for (const other of simulation.state.logins.values()) {
    if (other.context === login?.context) simulation.state.logins.update(other.reference, { accessFrom: now + 1 })
  }
  throw unauthorized("Token jest nieprawidłowy lub wygasł.")
}

const loseSession = ({ path, simulation }: Call): void => {
  const reference = path["referenceNumber"] ?? ""
  if (simulation.state.sessions.get(reference) !== undefined)
    simulation.state.sessions.update(reference, { gone: true })
}

/** Applies a fault of the network, or of a proxy, to a call. Returns `undefined` if the fault is of another kind. */
export const withTransportFault = async (
  { clock, ending }: Simulation,
  fault: Fault,
  handle: () => Promise<Reply>
): Promise<FaultedReply | undefined> => {
  switch (fault.do) {
    case "5xx": {
      const status = fault.status ?? 503
      const headers = fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) }
      return json(status, exceptionBody(status, "Simulated failure.", [], clock.now()), headers)
    }
    case "html":
      return htmlPage(fault.status ?? 502)
    case "delay":
      await sleep(fault.ms, undefined, { signal: ending }).catch(() => {})
      return ending.aborted ? "cut" : handle()
    case "stall":
      return "stall"
    case "drop-before":
      return "cut"
    case "drop-after":
      await handle()
      return "cut"
    default:
      return undefined
  }
}

/** Carries out a call with the fault that was picked for it. */
export const withFault = async (
  fault: Fault,
  call: Call,
  blocks: Blocks,
  handle: () => Promise<Reply>
): Promise<FaultedReply> => {
  const { simulation } = call
  const transported = await withTransportFault(simulation, fault, handle)
  if (transported !== undefined) return transported
  switch (fault.do) {
    case "429":
      throw new Refusal({
        status: 429,
        detail: "Przekroczono limit żądań.",
        retryAfterMs: (fault.retryAfter ?? 60) * 1000,
        overLimit: false
      })
    case "exception": {
      const refused = refusalOf(fault.code, fault.details ?? [])
      if (refused instanceof Refusal) throw refused
      return refused
    }
    case "21184":
      return raise(
        21184,
        `Trwają prace serwisowe i sesja ${call.path["referenceNumber"]} jest tymczasowo niedostępna. Spróbuj ponownie później lub otwórz nową sesję, aby wysłać kolejne faktury.`
      )
    case "system-warning": {
      const reply = await handle()
      const warning = `[${fault.code ?? "simulated"}]: ${fault.message}`
      return { ...reply, headers: { ...reply.headers, "x-system-warning": warning } }
    }
    case "415-after-rotation":
      await simulation.keys.rotate("unannounced")
      return handle()
    case "rotate-keys":
      await simulation.keys.rotate(fault.rotation ?? "planned")
      return handle()
    case "expire-access":
      return expireAccess(call)
    case "revoke-token":
      revokeTokenOf(call)
      return handle()
    case "block-403":
      blocks.set(fault.context ?? null, fault.ms ?? 0, fault.detail)
      return blockedPage(call.address, fault.detail)
    case "upo-late":
      return raise(21178, "UPO nie zostało jeszcze wygenerowane.")
    case "session-gone":
      loseSession(call)
      return handle()
    case "close-lost":
      if (fault.committed === true) await handle()
      return htmlPage(504)
    case "token-login-ends":
      throw forbidden("auth-method-not-allowed", "Ta operacja nie jest dostępna dla użytej metody uwierzytelnienia.", {
        authenticationMethodCategory: "Token"
      })
    default:
      return handle()
  }
}

/** Carries out a call outside of the API with the fault that is picked for it. */
export const withOutsideFault = async (
  simulation: Simulation,
  { context, point }: { readonly point: OutsideOperationName; readonly context: string | null },
  handle: () => Promise<Reply>
): Promise<{ readonly reply: FaultedReply; readonly fault: string | null }> => {
  const fault = simulation.faults.take({ point, context })?.fault
  if (fault === undefined) return { reply: await handle(), fault: null }
  if (fault.do === "upo-html") return { reply: htmlPage(200), fault: fault.do }
  const reply = await withTransportFault(simulation, fault, handle)
  return { reply: reply ?? (await handle()), fault: fault.do }
}

/** Does at once what does not need a call: faults that change keys and name no operation. */
export const applyAtOnce = async ({ keys }: Simulation, fault: Fault): Promise<boolean> => {
  if (fault.on !== undefined || fault.nth !== undefined || fault.context !== undefined) return false
  if (fault.do === "rotate-keys") await keys.rotate(fault.rotation ?? "planned")
  else if (fault.do === "415-after-rotation") await keys.rotate("unannounced")
  else return false
  return true
}
