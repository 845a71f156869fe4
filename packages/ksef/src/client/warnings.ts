/**
 * Logs the warnings that KSeF sends along, each text once a day.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as SystemWarning from "../protocol/SystemWarning.ts"
import type { Call } from "./KsefError.ts"

/** More texts than that in a day are not told apart from those before. */
const maxTexts = 1_000

/** Returns a logger that remembers what it logged. */
export const makeWarningLog = (): ((call: Call, header: string | undefined) => Effect.Effect<void>) => {
  let day = ""
  let logged = new Set<string>()
  return (call, header) => {
    if (header === undefined) return Effect.void
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const today = new Date(now).toISOString().slice(0, 10)
      if (today !== day) {
        day = today
        logged = new Set()
      }
      const unseen = SystemWarning.read(header).filter(({ code, message }) => !logged.has(`${code}|${message}`))
      for (const { code, message } of unseen) if (logged.size < maxTexts) logged.add(`${code}|${message}`)
      return Effect.forEach(
        unseen,
        ({ code, message }) =>
          Effect.logWarning("KSeF sent a system warning").pipe(Effect.annotateLogs({ call, code, message })),
        { discard: true }
      )
    })
  }
}
