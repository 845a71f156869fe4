/** Requests at an interval, to see when a deployment serves them again. */
import type { Deployment } from "./deployment.ts"

/** When an answer was asked for and given. The status is 0 if the connection failed. */
export interface Answered {
  readonly beganAt: number
  readonly endedAt: number
  readonly status: number
}

/** Asks at an interval, and records the answers, until it is stopped. */
export const ask = (deployment: Deployment, path: string, token: string, everyMs: number) => {
  const answers: Array<Answered> = []
  const pending = new Set<Promise<void>>()
  const one = async () => {
    const beganAt = Date.now()
    const { status } = await deployment.call("GET", path, { token }).catch(() => ({ status: 0 }))
    answers.push({ beganAt, endedAt: Date.now(), status })
  }
  const timer = setInterval(() => {
    const asked = one().finally(() => pending.delete(asked))
    pending.add(asked)
  }, everyMs)
  return {
    answers: answers as ReadonlyArray<Answered>,
    stop: async () => {
      clearInterval(timer)
      await Promise.all(pending)
    }
  }
}

/** Milliseconds from a time to the end of the first request after it that succeeded. */
export const servedAfter = (answers: ReadonlyArray<Answered>, at: number): number =>
  Math.min(...answers.flatMap(({ beganAt, endedAt, status }) => (beganAt > at && status === 200 ? [endedAt] : []))) - at

/** The requests after a time that did not succeed. */
export const failedAfter = (answers: ReadonlyArray<Answered>, at: number): ReadonlyArray<Answered> =>
  answers.filter(({ beganAt, status }) => beganAt > at && status !== 200)
