/**
 * The failures of KSeF that its beacon announces. An invoice that was issued offline before the end of one, and could still be sent
 * when it began, may be sent until the seventh working day after its end.
 *
 * The beacon has been wrong itself: it moves the last day for sending, and decides nothing.
 */
import type { KsefClient } from "@govoice/ksef/client"
import { WorkingDays } from "@govoice/ksef/format"
import { Clock, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as OutageLog from "../../database/OutageLog.ts"
import { NationalSystem } from "./NationalSystem.ts"

const every = "10 minutes"

// Transitions wait for the locks of so many at most, and only for a moment.
const atOnce = 1000

/** A failure that has ended. */
export interface Failure {
  readonly start: Date
  readonly end: Date
}

type Messages = Effect.Success<KsefClient.KsefClient["beaconMessages"]>

// A time that is not set may be one of the year 1.
const isKnown = (time: Date): boolean => time.getTime() > 0

/**
 * The failures that have ended, of the messages of the beacon. Nothing is sent later because of a total failure, or of maintenance; and
 * an end that is announced for later may come sooner.
 */
export const ended = (messages: Messages, now: number): ReadonlyArray<Failure> =>
  messages.flatMap(({ category, end, eventId, start, type }) => {
    if (category !== "FAILURE" || type !== "FAILURE_END" || !end) return []
    const begun = messages.find((one) => one.eventId === eventId && one.type === "FAILURE_START")
    const failure = { start: new Date(begun?.start ?? start), end: new Date(end) }
    return isKnown(failure.start) && isKnown(failure.end) && failure.end.getTime() <= now ? [failure] : []
  })

const dayInPoland = new Intl.DateTimeFormat("en-CA", { timeZone: "Europe/Warsaw" })

/** Moves the last day for sending of the invoices that a failure concerns. Returns how many. */
export const extend = (sql: SqlClient.SqlClient, { end, start }: Failure): Effect.Effect<number, SqlError.SqlError> => {
  const day = WorkingDays.afterFailure(dayInPoland.format(end))
  const concerned = sql`
    mode = 'live' AND status IN ('queued', 'submitting', 'retrying')
    AND send_by >= ${dayInPoland.format(start)} AND send_by < ${day} AND created_at < ${end}
  `
  return Effect.map(
    sql`
      UPDATE invoices SET send_by = ${day} WHERE id IN (
        SELECT id FROM invoices WHERE ${concerned} ORDER BY send_by LIMIT ${atOnce}::int FOR UPDATE SKIP LOCKED
      )
      RETURNING 1
    `,
    (rows) => rows.length
  )
}

/** Asks the beacon, if an offline invoice waits. */
export const round = (client: Pick<KsefClient.KsefClient, "beaconMessages">) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const waiting = yield* sql`
      SELECT 1 FROM invoices
      WHERE mode = 'live' AND status IN ('queued', 'submitting', 'retrying') AND send_by IS NOT NULL LIMIT 1
    `
    if (waiting.length === 0) return
    for (const failure of ended(yield* client.beaconMessages, yield* Clock.currentTimeMillis)) {
      let invoices = 0
      for (let moved = atOnce; moved === atOnce; invoices += moved) moved = yield* extend(sql, failure)
      if (invoices === 0) continue
      yield* Effect.annotateLogs(Effect.logInfo("Last day for sending moved, because KSeF announced a failure"), {
        invoices,
        end: failure.end.toISOString()
      })
    }
  })

/** Asks the beacon from time to time, while live mode is on. */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    const system = yield* NationalSystem
    if (system === undefined) return
    const iteration = round(system.client).pipe(
      OutageLog.tolerate("announced_failures", "The announced failures of KSeF could not be read")
    )
    yield* Effect.forkScoped(Effect.repeat(iteration, Schedule.spaced(every)))
  })
)
