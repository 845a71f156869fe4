/**
 * The control API of the simulator for tests, under `/_simulator`: faults, clock, beacon, tokens, certificates, ledger.
 *
 * Every change takes JSON under its content type, which a page of another origin cannot send without being asked for first.
 */
import type { IncomingMessage } from "node:http"
import { ContextIdentifier, Nip } from "@govoice/ksef/format"
import { issueCertificate } from "../auth/issueCertificate.ts"
import { createToken } from "../auth/tokens.ts"
import { applyAtOnce } from "../faults/callFaults.ts"
import type { Fault } from "../faults/Fault.ts"
import { parseFault } from "../faults/parseFault.ts"
import { parseJson, readBody } from "../http/body.ts"
import { json, Refusal, type Reply } from "../http/Reply.ts"
import type { Simulation } from "../Simulation.ts"
import { permissions as allPermissions, type Permission } from "../state/records.ts"
import { beaconStatuses, type BeaconStatus } from "./Beacon.ts"

type Action = (simulation: Simulation, body: unknown, query: URLSearchParams) => object | Promise<object>

const expected = (what: string): never => {
  throw new TypeError(`Expected ${what}.`)
}

const object = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === "object" && body !== null && !Array.isArray(body)
    ? (body as Readonly<Record<string, unknown>>)
    : expected("a JSON object")

const nipOf = (body: Readonly<Record<string, unknown>>): string => {
  const { nip } = body
  return typeof nip === "string" && Nip.isValid(nip) ? nip : expected('"nip" to be ten digits with the right checksum')
}

const contextOf = (
  { context }: Readonly<Record<string, unknown>>,
  types: ReadonlyArray<ContextIdentifier.Type>
): string => {
  const named = typeof context === "string" ? ContextIdentifier.ofValue(context) : undefined
  return named !== undefined && types.includes(named.type) && ContextIdentifier.isValid(named)
    ? named.value
    : expected(`"context" to be the value of a context of the type ${types.join(" or ")}`)
}

const permissionsOf = ({ permissions }: Readonly<Record<string, unknown>>): ReadonlyArray<Permission> | undefined => {
  if (permissions === undefined) return undefined
  const isKnown = Array.isArray(permissions) && permissions.every((one) => allPermissions.includes(one as Permission))
  return isKnown
    ? (permissions as Array<Permission>)
    : expected(`"permissions" to be some of ${allPermissions.join(", ")}`)
}

/** Adds a fault, or does at once what needs no call. Returns its id, or null where it is done. */
export const addFault = async (simulation: Simulation, fault: Fault): Promise<number | null> =>
  (await applyAtOnce(simulation, fault)) ? null : simulation.faults.add(fault)

const addFaults: Action = async (simulation, body) => {
  const faults = (Array.isArray(body) ? body : [body]).map(parseFault)
  const ids: Array<number | null> = []
  for (const fault of faults) ids.push(await addFault(simulation, fault))
  return { ids }
}

const removeFaults: Action = ({ faults }, _, query) => {
  const id = query.get("id")
  if (id === null) faults.clear()
  else faults.remove(Number(id))
  return { faults: faults.list() }
}

const advance: Action = ({ clock }, body) => {
  const { advanceMs } = object(body)
  if (typeof advanceMs !== "number" || !(advanceMs >= 0)) return expected('"advanceMs" to be milliseconds from 0 up')
  clock.advance(advanceMs)
  return { now: clock.now() }
}

const setBeacon: Action = ({ beacon }, body) => {
  const { status, text } = object(body)
  if (!beaconStatuses.includes(status as BeaconStatus)) {
    return expected(`"status" to be one of ${beaconStatuses.join(", ")}`)
  }
  beacon.set(status as BeaconStatus, typeof text === "string" ? text.slice(0, 1000) : undefined)
  return beacon.describe()
}

const issueToken: Action = (simulation, given) => {
  const body = object(given)
  const permissions = permissionsOf(body)
  const { context, reference, secret } = createToken(simulation, {
    context: contextOf(body, ["Nip", "InternalId"]),
    ...(permissions === undefined ? {} : { permissions })
  })
  return { token: secret, referenceNumber: reference, context }
}

const issueOne: Action = (simulation, given) => {
  const body = object(given)
  const { key = "ec", kind = "authentication" } = body
  if (kind !== "authentication" && kind !== "offline") return expected('"kind" to be "authentication" or "offline"')
  if (key !== "ec" && key !== "rsa") return expected('"key" to be "ec" or "rsa"')
  return issueCertificate(simulation, {
    nip: nipOf(body),
    kind,
    key,
    ...(body["context"] === undefined ? {} : { context: contextOf(body, ["InternalId", "NipVatUe"]) })
  })
}

const actions: Readonly<Record<string, Action>> = {
  "GET /_simulator/faults": ({ faults }) => ({ faults: faults.list() }),
  "POST /_simulator/faults": addFaults,
  "DELETE /_simulator/faults": removeFaults,
  "GET /_simulator/ledger": ({ ledger }) => ({
    totalCalls: ledger.totalCalls,
    overLimit: ledger.overLimit,
    accepted: ledger.accepted(),
    calls: ledger.calls().slice(-1000)
  }),
  "GET /_simulator/clock": ({ clock }) => ({ now: clock.now() }),
  "POST /_simulator/clock": advance,
  "POST /_simulator/beacon": setBeacon,
  "POST /_simulator/tokens": issueToken,
  "POST /_simulator/certificates": issueOne
}

/** Answers a request under `/_simulator`. */
export const answerControl = async (
  simulation: Simulation,
  request: IncomingMessage,
  path: string,
  query: URLSearchParams
): Promise<Reply> => {
  const action = actions[`${request.method} ${path}`]
  if (action === undefined) {
    return json(404, { error: `Expected one of ${Object.keys(actions).join(", ")}.` })
  }
  try {
    return json(200, await action(simulation, await bodyOf(request), query))
  } catch (error) {
    if (error instanceof TypeError) return json(400, { error: error.message })
    if (error instanceof Refusal) return json(error.refused.status, { error: "The body is too long, or ended early." })
    throw error
  }
}

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  if (request.method !== "POST") return undefined
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
    return expected("a body in JSON, with the content type application/json")
  }
  return parseJson(await readBody(request, 262_144))
}
