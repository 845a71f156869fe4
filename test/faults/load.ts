/** Submissions at a steady rate, while a test breaks something. */
import { type Deployment, sleep } from "./deployment.ts"

const scenarios = ["accepted", "rejected", "temporary_failure", "accepted", "delayed"]

const clients = [0, 1, 2, 3]

/** Submits about `perSecond` invoices a second with the keys in turn, until it is stopped. */
export const startLoad = (deployment: Deployment, keys: ReadonlyArray<string>, perSecond: number) => {
  const stopping = new AbortController()
  const ids: Array<string> = []
  const client = async (offset: number) => {
    for (let n = offset; !stopping.signal.aborted; n++) {
      ids.push(await deployment.submit(keys[n % keys.length]!, scenarios[n % scenarios.length]!))
      await sleep((clients.length * 1000) / perSecond)
    }
  }
  const running = Promise.all(clients.map(client))
  return {
    /** The ids of the invoices that were answered with 201 so far. */
    ids: ids as ReadonlyArray<string>,
    /** How many these are. */
    submitted: () => ids.length,
    /** Returns how many invoices were accepted. */
    stop: async (): Promise<number> => {
      stopping.abort()
      await running
      return ids.length
    }
  }
}
