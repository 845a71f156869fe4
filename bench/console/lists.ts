/**
 * Measures the lists of the control plane that the console shows, one request after the other, and in the same turns the
 * lookup of one record, which has the same way through the server.
 */
import type { Deployment } from "./deployment.ts"

const pageSize = 50
const calls = Number(process.env["BENCH_CALLS"] ?? 200)

/** A request, and how long its answers took, in milliseconds. */
export interface Timed {
  readonly name: string
  readonly p50: number
  readonly p95: number
}

/** The lists, and their floor. */
export interface Lists {
  readonly lists: ReadonlyArray<Timed>
  readonly lookUp: Timed
}

interface List {
  readonly data: ReadonlyArray<{ readonly id: string }>
  readonly next_cursor: string | null
}

/** Returns a part of sorted numbers. */
const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

/** Follows the pages of a list to this one, and returns its cursor. */
export const cursorOf = async ({ read }: Deployment, path: string, page: number): Promise<string> => {
  let cursor = ""
  for (let current = 1; current < page; current++) {
    const separator = path.includes("?") ? "&" : "?"
    const { body } = await read(
      `${path}${separator}limit=${pageSize}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    )
    const { next_cursor: next } = body as List
    if (next === null) throw new Error(`${path} ends at page ${current}`)
    cursor = next
  }
  return cursor
}

/** Measures pages and filters, in turns, so that a slow phase of the machine affects all. */
export const measureLists = async (deployment: Deployment): Promise<Lists> => {
  const { endpoint, organization, read } = deployment
  const ofEndpoint = `webhook-endpoints/${endpoint}/deliveries`
  const ofAll = `organizations/${organization}/deliveries`
  const { data } = (await read(`${ofEndpoint}?status=failed`)).body as List
  if (data.length !== 1) throw new Error(`${data.length} failed deliveries`)
  const dayAgo = new Date(Date.now() - 24 * 3_600_000).toISOString()
  const filtersOf = async (list: string) => ({
    "page 1": "",
    "page 1,000": `cursor=${encodeURIComponent(await cursorOf(deployment, list, 1000))}`,
    failed: "status=failed",
    retrying: "status=retrying",
    pending: "status=pending",
    delivering: "status=delivering",
    succeeded: "status=succeeded",
    "an event type": "event_type=invoice.rejected",
    "an event type that there is not": "event_type=invoice.failed",
    "an event type, failed": "event_type=invoice.rejected&status=failed",
    "before a day ago": `created_before=${dayAgo}`
  })
  const requests: Array<{ readonly name: string; readonly path: string; readonly times: Array<number> }> = []
  for (const [of, list] of [
    ["an endpoint", ofEndpoint],
    ["all endpoints", ofAll]
  ] as const) {
    for (const [name, query] of Object.entries(await filtersOf(list))) {
      requests.push({ name: `${of}, ${name}`, path: `${list}?limit=${pageSize}&${query}`.replace(/&$/, ""), times: [] })
    }
  }
  requests.push({ name: "one organization", path: `organizations/${organization}`, times: [] })
  // Postgres plans anew for the first five executions of a prepared statement.
  for (let call = -10; call < calls; call++) {
    for (const { path, times } of requests) {
      const { milliseconds } = await read(path)
      if (call >= 0) times.push(milliseconds)
    }
  }
  const timed = requests.map(({ name, times }) => ({
    name,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95)
  }))
  return { lists: timed.slice(0, -1), lookUp: timed.at(-1)! }
}
