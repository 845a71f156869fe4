/** Why a process that listens already does not serve yet. */
import { Context } from "effect"

/** The reason of a process that has met no obstacle. */
export const starting = "The server is starting."

/** The reason as a sentence. Whoever makes the start wait replaces it. */
export const StartProgress = Context.Reference<{ reason: string }>("@govoice/server/observability/StartProgress", {
  defaultValue: () => ({ reason: starting })
})
