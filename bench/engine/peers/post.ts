/** The job of every other queue: the same signed POST to the same receiver, with undici and keep-alive connections. */
import { signSync } from "@govoice/webhooks"
import { Pool } from "undici"

export interface Job {
  readonly url: string
  readonly path: string
  readonly id: string
  readonly body: string
}

export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
export const concurrency = Number(process.env["PEER_CONCURRENCY"] ?? 200)

const pools = new Map<string, Pool>()

export const post = async ({ body, id, path, url }: Job): Promise<void> => {
  let pool = pools.get(url)
  if (pool === undefined) pools.set(url, (pool = new Pool(url, { connections: concurrency })))
  const timestamp = new Date().toISOString()
  const response = await pool.request({
    method: "POST",
    path,
    body,
    headersTimeout: 10_000,
    headers: {
      "content-type": "application/json",
      "gov-event-id": id,
      "gov-timestamp": timestamp,
      "gov-signature": signSync({ secret, timestamp, body })
    }
  })
  await response.body.dump()
  if (response.statusCode < 200 || response.statusCode > 299) throw new Error(`HTTP ${response.statusCode}`)
}
