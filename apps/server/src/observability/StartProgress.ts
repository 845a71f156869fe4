/** Why a process that listens already does not serve yet. */
import { Context } from "effect"

/** The reason of a process that has met no obstacle. */
export const starting = "The server is starting."

/** The reason of a process whose database has not answered yet. */
export const database = "The server is waiting for the database."

/** The reason of a process whose statements wait for a session that has locked a table. */
export const lockedTable = "The server is waiting for a lock on a table, which another session holds."

interface Progress {
  /** A sentence. Whoever makes the start wait replaces it. */
  reason: string
  /** How long each part of the start may wait for the database, in milliseconds. */
  readonly waitMs: number
}

/** How far the start is. Nothing waits where none is provided. */
export const StartProgress = Context.Reference<Progress>("@govoice/server/observability/StartProgress", {
  defaultValue: () => ({ reason: starting, waitMs: 0 })
})
