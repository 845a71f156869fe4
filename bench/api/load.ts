/** Connections that each send the next request after the response to the last one. */
import { readFileSync } from "node:fs"
import { Pool } from "undici"

export interface Target {
  readonly url: string
  readonly pid: number
  readonly connections: number
  readonly milliseconds: number
  readonly expect: number
  readonly next: () => {
    readonly method: "GET" | "POST"
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  /** Receives each response. */
  readonly onAnswer?: (text: string) => void
}

export interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly most: number
  /** CPU time of the server per request, in microseconds. */
  readonly cpuMicros: number
}

// User and system time of a process in ticks of ten milliseconds (proc(5)).
const cpuMicrosOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** Loads a server for this time, and fails on the first unexpected response. */
export const load = async ({
  connections,
  expect,
  milliseconds,
  next,
  onAnswer,
  pid,
  url
}: Target): Promise<Measured> => {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const times: Array<number> = []
  const cpuBefore = cpuMicrosOf(pid)
  const begun = performance.now()
  const until = begun + milliseconds

  const run = async () => {
    while (performance.now() < until) {
      const { body, headers, method, path } = next()
      const sent = performance.now()
      const answer = await pool.request({
        method,
        path,
        headers: headers ?? {},
        ...(body === undefined ? {} : { body })
      })
      const text = await answer.body.text()
      times.push(performance.now() - sent)
      if (answer.statusCode !== expect) throw new Error(`${answer.statusCode} ${text}`)
      onAnswer?.(text)
    }
  }
  await Promise.all(Array.from({ length: connections }, run))
  const seconds = (performance.now() - begun) / 1000
  await pool.close()
  const sorted = Float64Array.from(times).sort()
  return {
    perSecond: times.length / seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    cpuMicros: (cpuMicrosOf(pid) - cpuBefore) / times.length,
    most: sorted.at(-1) ?? Number.NaN
  }
}
