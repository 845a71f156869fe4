/**
 * The bodies of refusals, in the two formats of KSeF: problem details, and the older exception. 401 and 403 are problem details
 * always; 400 and 429 where the client asks for them with `X-Error-Format: problem-details`.
 */
import { randomBytes } from "node:crypto"
import { timestamp } from "../time/timestamps.ts"
import { exceptions } from "./exceptions.ts"
import { json, type Refused, type Reply } from "./Reply.ts"

/** The facts about a refused request that its answer states. */
export interface RefusedRequest {
  readonly path: string
  readonly problemDetails: boolean
  readonly now: number
}

const titles: Readonly<Record<Refused["status"], string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  501: "Not Implemented"
}

const problem = (
  refused: { readonly status: Refused["status"]; readonly detail: string },
  { now, path }: RefusedRequest,
  members: object = {},
  headers: Readonly<Record<string, string>> = {}
): Reply =>
  json(
    refused.status,
    {
      title: titles[refused.status],
      status: refused.status,
      instance: path,
      detail: refused.detail,
      ...members,
      traceId: randomBytes(16).toString("hex"),
      timestamp: timestamp(now)
    },
    { "content-type": "application/problem+json", ...headers }
  )

/** Writes the older format of errors. */
export const exceptionBody = (
  code: number,
  description: string,
  details: ReadonlyArray<string>,
  now: number
): object => ({
  exception: {
    exceptionDetailList: [{ exceptionCode: code, exceptionDescription: description, details }],
    referenceNumber: null,
    serviceCode: `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-00`,
    serviceCtx: "srvSIMULATOR",
    serviceName: "Undefined",
    timestamp: timestamp(now)
  }
})

/** Writes the answer of a refusal. */
export const refusalReply = (refused: Refused, request: RefusedRequest): Reply => {
  if (refused.status === 400) {
    const { code, details } = refused
    const description = exceptions[code]
    return request.problemDetails
      ? problem({ status: 400, detail: "Żądanie jest nieprawidłowe." }, request, {
          errors: [{ code, description, details }]
        })
      : json(400, exceptionBody(code, description, details, request.now))
  }
  if (refused.status === 403) {
    if (refused.reason === "wrong-token-type") return { status: 403 }
    const { reason, security } = refused
    return problem(refused, request, { reasonCode: reason, ...(security === undefined ? {} : { security }) })
  }
  if (refused.status === 429) {
    const seconds = Math.max(1, Math.ceil(refused.retryAfterMs / 1000))
    const detail = `${refused.detail} Spróbuj ponownie po ${seconds} sekundach.`.trim()
    const headers = { "retry-after": String(seconds) }
    return request.problemDetails
      ? problem({ status: 429, detail }, request, {}, headers)
      : json(429, { status: { code: 429, description: titles[429], details: [detail] } }, headers)
  }
  return problem(refused, request)
}
