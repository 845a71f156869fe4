/**
 * Checks that the key ring opens what is stored: every key in use is in the ring, and opens samples of its values. A key
 * with the right id and wrong bytes is found too.
 */
import { Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { KeyRing, keyIdOf, KeyUnavailable } from "../crypto/KeyRing.ts"
import { awaited } from "../database/awaited.ts"
import * as OutageLog from "../database/OutageLog.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"
import { type SealedColumn, sealedColumns } from "./SealedColumns.ts"

export interface KeyReport {
  /** The ids of the keys that stored values were sealed with. */
  readonly inUse: ReadonlySet<string>
  /** The first problem of each key. */
  readonly problems: ReadonlyArray<KeyUnavailable>
}

interface Sample {
  readonly id: string
  readonly sealed: Uint8Array
}

const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A sealed value begins with its version, the length of its key id, and the key id (KeyRing). An index on this prefix and
  // the id leads from key to key, and to the first and last value of each.
  const selectSamples = ({ column, table }: SealedColumn) => {
    const value = sql(column)
    const prefix = sql`substring(${value} FROM 1 FOR 2 + get_byte(${value}, 1))`
    const present = sql`FROM ${sql(table)} WHERE ${value} IS NOT NULL`
    const first = sql`ORDER BY ${prefix}, id LIMIT 1`
    const last = sql`ORDER BY ${prefix} DESC, id DESC LIMIT 1`
    return sql<Sample>`
      WITH RECURSIVE key (prefix, id, sealed) AS (
        (SELECT ${prefix}, id, ${value} ${present} ${first})
        UNION ALL
        SELECT next.* FROM key CROSS JOIN LATERAL (
          SELECT ${prefix}, id, ${value} ${present} AND ${prefix} > key.prefix ${first}
        ) AS next
      )
      SELECT id, sealed FROM key
      UNION
      SELECT latest.id, latest.sealed FROM key CROSS JOIN LATERAL (
        SELECT id, ${value} AS sealed ${present} AND ${prefix} <= key.prefix ${last}
      ) AS latest
    `
  }

  return yield* Effect.forEach(sealedColumns, (column) =>
    Effect.map(selectSamples(column), (samples) => samples.map((sample) => ({ ...sample, column: column.place })))
  )
})

/** Opens samples of every key in use. */
export const check: Effect.Effect<KeyReport, SqlError.SqlError, KeyRing | SqlClient.SqlClient> = Effect.gen(
  function* () {
    const { open } = yield* KeyRing
    const inUse = new Set<string>()
    const problems = new Map<string, KeyUnavailable>()
    for (const { column, id, sealed } of (yield* read).flat()) {
      inUse.add(keyIdOf(sealed))
      try {
        open(sealed, { column, row: id })
      } catch (error) {
        if (!(error instanceof KeyUnavailable)) throw error
        problems.set(error.keyId, error)
      }
    }
    return { inUse, problems: [...problems.values()] }
  }
)

/** Returns the fault of the keys in one line, or `undefined`. */
export const describe = ({ problems }: KeyReport): string | undefined =>
  problems.length === 0 ? undefined : `${problems.map(({ message }) => message).join(". ")}.`

/** The remedy, for operators. */
export const remedy = "Put the keys that sealed the stored values back into GOVOICE_ENCRYPTION_KEYS, in every process."

const everyMinute = Schedule.spaced("1 minute")

const watch = Effect.gen(function* () {
  let logged: string | undefined
  const once = Effect.gen(function* () {
    const problem = describe(yield* check)
    if (problem !== undefined && problem !== logged) yield* Effect.logError(`${problem} ${remedy}`)
    if (problem === undefined && logged !== undefined)
      yield* Effect.logInfo("The encryption keys open all samples again")
    logged = problem
  }).pipe(OutageLog.tolerate("key_check", "Key check failed"))
  yield* Effect.sleep("1 minute")
  yield* Effect.repeat(once, everyMinute)
})

/** Fails while it is built unless the keys open what is stored, and logs when they no longer do. Provides nothing. */
export const layer: Layer.Layer<never, DeploymentError | SqlError.SqlError, KeyRing | SqlClient.SqlClient> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const problem = describe(yield* awaited(check))
      if (problem !== undefined) return yield* new DeploymentError({ message: `${problem} ${remedy}` })
      yield* Effect.forkScoped(watch)
    })
  )
