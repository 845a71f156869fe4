/** The requests of the benchmarks of the API. */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Running } from "./govoice.ts"
import type { Target } from "./load.ts"

/** How many connections send them. */
export const connections = 50

/** The invoice that is submitted. */
export const sample = readFileSync(join(import.meta.dirname, "../../examples/invoices/fa3-vat23.xml"), "utf8")

const json = { "content-type": "application/json" }

/** The requests of a benchmark: submissions, and lookups of what was submitted. */
export type Requests = Readonly<Record<"submit" | "get", Target>>

/** The requests to a server, with this key, for this time. */
export const requestsOf = ({ pid, url }: Running, key: string, milliseconds: number): Requests => {
  const authorization = `Bearer ${key}`
  const body = JSON.stringify({ invoice_xml: sample, metadata: { order: "4711" } })
  const ids: Array<string> = []
  let turn = 0
  const shared = { url, pid, connections, milliseconds }
  return {
    submit: {
      ...shared,
      expect: 201,
      next: () => ({
        method: "POST",
        path: "/v1/invoices",
        headers: { ...json, authorization, "idempotency-key": randomUUID() },
        body
      }),
      onAnswer: (text) => {
        if (ids.length < 5000) ids.push((JSON.parse(text) as { readonly id: string }).id)
      }
    },
    get: {
      ...shared,
      expect: 200,
      next: () => ({ method: "GET", path: `/v1/invoices/${ids[turn++ % ids.length]}`, headers: { authorization } })
    }
  }
}
