/**
 * The storage beside the API, which handed-out links point to: parts of batches go in, UPOs come out. Like the storage that
 * KSeF uses, it takes no bearer token, and knows no limits of calls.
 */
import type { IncomingMessage } from "node:http"
import { empty, Refusal, type Reply, xml } from "../http/Reply.ts"
import type { OutsideOperationName } from "../openapi/operations.ts"
import { storePart } from "../sessions/batchHandlers.ts"
import { invoiceUpo, sessionUpo } from "../sessions/makeUpo.ts"
import type { Simulation } from "../Simulation.ts"

/** The target of a link. */
interface Target {
  readonly operation: OutsideOperationName
  readonly method: string
  readonly session: string
  readonly name: string
}

const targetOf = (path: string): Target | undefined => {
  const [, part, ordinal] = /^parts\/([\w-]{36})\/([1-9]\d?)$/.exec(path) ?? []
  if (part !== undefined) return { operation: "uploadPart", method: "PUT", session: part, name: ordinal! }
  const [, session, document] = /^upo\/([\w-]{36})\/([\w-]{36})\.xml$/.exec(path) ?? []
  if (session !== undefined) return { operation: "downloadUpo", method: "GET", session, name: document! }
  return undefined
}

/** Returns the name of the operation of a path after `/storage/`. */
export const storageOperation = (path: string): OutsideOperationName | undefined => targetOf(path)?.operation

const errorReply = (status: number, code: string): Reply => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code></Error>`
})

/** Answers a request for a path after `/storage/`. */
export const answerStorage = async (
  simulation: Simulation,
  request: IncomingMessage,
  path: string,
  query: URLSearchParams
): Promise<Reply> => {
  const target = targetOf(path)
  if (target === undefined) return errorReply(404, "ResourceNotFound")
  if (request.method !== target.method) return errorReply(405, "UnsupportedHttpVerb")
  if (request.headers.authorization !== undefined) return errorReply(401, "InvalidAuthenticationInfo")
  const access = target.operation === "uploadPart" ? "w" : "r"
  if (simulation.links.check(path, query, access) !== "ok") return errorReply(403, "AuthenticationFailed")
  return target.operation === "uploadPart" ? upload(simulation, request, target) : download(simulation, target)
}

/** The context of the session that a path after `/storage/` belongs to. */
export const storageContext = (simulation: Simulation, path: string): string | null => {
  const target = targetOf(path)
  return target === undefined ? null : contextOf(simulation, target)
}

const contextOf = ({ state }: Simulation, { session }: Target): string | null =>
  state.sessions.get(session)?.context ?? null

const upload = async (simulation: Simulation, request: IncomingMessage, { name, session }: Target): Promise<Reply> => {
  if (request.headers["x-ms-blob-type"] !== "BlockBlob") return errorReply(400, "MissingRequiredHeader")
  try {
    await storePart(simulation, request, session, Number(name))
    return empty(201)
  } catch (error) {
    if (error instanceof Refusal) return errorReply(error.refused.status, "InvalidInput")
    throw error
  }
}

const download = async (simulation: Simulation, target: Target): Promise<Reply> => {
  const session = simulation.state.sessions.get(target.session)
  if (session === undefined) return errorReply(404, "BlobNotFound")
  const invoice = simulation.state.invoices.get(target.name)
  const upo =
    invoice?.session === session.reference
      ? await invoiceUpo(simulation, session, invoice)
      : await sessionUpo(simulation, session, target.name)
  return upo === undefined ? errorReply(404, "BlobNotFound") : xml(upo.bytes, upo.hash)
}
