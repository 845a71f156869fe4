/** A stubbed `fetch` that responds from a function. */
import type { Fetch, FetchInit } from "../../src/index.ts"

export interface StubbedRequest extends FetchInit {
  readonly url: string
}

export const id = "inv_01m7q5cqg0e6786ptds43fm4k3"

export const record = {
  id,
  object: "invoice",
  mode: "test",
  status: "queued",
  scenario: "accepted",
  metadata: {},
  document: null,
  verification: null,
  invoicing_mode: "online",
  official_mode: null,
  send_by: null,
  corrects: null,
  warnings: [],
  official_number: null,
  rejection: null,
  failure: null,
  upo_available: false,
  attempt_count: 0,
  next_attempt_at: null,
  created_at: "2026-11-20T09:00:00.000Z",
  updated_at: "2026-11-20T09:00:00.000Z",
  submitted_at: null,
  completed_at: null
}

export const json = (
  value: unknown,
  { headers, ...init }: { readonly status?: number; readonly headers?: Record<string, string> } = {}
): Response => new Response(JSON.stringify(value), { ...init, headers: { "request-id": "req_1", ...headers } })

export const problem = (status: number, code: string, retryable = false, headers?: Record<string, string>): Response =>
  json(
    { error: { type: "api_error", code, message: "Why.", param: null, request_id: "req_1", retryable } },
    { status, ...(headers && { headers }) }
  )

/** Returns a `fetch` and the requests that it received. */
export const stub = (
  answer: (request: StubbedRequest, index: number) => Response | Promise<Response>
): { readonly fetch: Fetch; readonly requests: ReadonlyArray<StubbedRequest> } => {
  const requests: Array<StubbedRequest> = []
  return {
    requests,
    fetch: async (url, init) => {
      const request = { ...init, url }
      requests.push(request)
      return answer(request, requests.length - 1)
    }
  }
}
