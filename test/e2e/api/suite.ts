/** The server that the suites of the API share, and how they read its answers. */
import type { Answer } from "../support/agreement.ts"
import { problemOf } from "../support/agreement.ts"
import type { Call, Tenant } from "../support/client.ts"
import type { Server } from "../support/server.ts"

/** A server on one database. Its members can be used while tests run, not while they are registered. */
export interface ApiSuite {
  readonly call: Call
  readonly server: Server
  readonly tenant: Tenant
  /** Another account. */
  readonly other: Tenant
  /** Submits an invoice and returns its id once its receipt is available. */
  readonly accepted: (key?: string) => Promise<string>
}

export const control = "/v1/control-plane"
export const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const id = (prefix: string): RegExp => new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)

export const codeOf = (answer: Answer): string => (answer.status < 400 ? String(answer.status) : problemOf(answer).code)
export const record = (answer: Answer): Record<string, unknown> => answer.json as Record<string, unknown>
export const data = (answer: Answer): ReadonlyArray<Record<string, unknown>> =>
  record(answer)["data"] as ReadonlyArray<Record<string, unknown>>

/** Reads all pages of the invoices of an organization. */
export const everyId = async (call: Call, tenant: Tenant): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  let cursor: string | null = ""
  while (cursor !== null) {
    const query: string = `limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`
    const answer = record(
      await call("GET", `${control}/organizations/${tenant.organizationId}/invoices?${query}`, { auth: tenant.token })
    )
    found.push(...(answer["data"] as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id))
    cursor = answer["next_cursor"] as string | null
  }
  return found
}
