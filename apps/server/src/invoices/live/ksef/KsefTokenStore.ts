/** Stores the access and refresh tokens of organizations in the `national_logins` table, sealed. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { KeyRing, KeyUnavailable } from "../../../crypto/KeyRing.ts"
import { LaneLost, LaneQueue, type Lane } from "../LaneQueue.ts"
import type { TokenStore } from "./Logins.ts"

interface Row {
  readonly credential_updated_at: Date
  readonly access_valid_until: Date
  readonly refresh_valid_until: Date
  readonly access_token: Uint8Array
  readonly refresh_token: Uint8Array
}

// Of a token that was read, the lifetime is not known.
const earlyMs = 90_000

/** Makes the function that makes the store of a lane. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keyRing = yield* KeyRing
  const { fence } = yield* LaneQueue

  return (lane: Lane): TokenStore => ({
    read: Effect.fnUntraced(function* (id) {
      const [row] = yield* sql<Row>`SELECT * FROM national_logins WHERE id = ${id}`
      if (row === undefined) return undefined
      try {
        return {
          credentialUpdatedAt: row.credential_updated_at.getTime(),
          access: Redacted.make(keyRing.open(row.access_token, { column: "national_logins.access_token", row: id })),
          accessUntil: row.access_valid_until.getTime(),
          earlyMs,
          refresh: Redacted.make(keyRing.open(row.refresh_token, { column: "national_logins.refresh_token", row: id })),
          refreshUntil: row.refresh_valid_until.getTime()
        }
      } catch (error) {
        // A new login replaces what no key opens.
        if (error instanceof KeyUnavailable) return undefined
        throw error
      }
    }),

    write: Effect.fnUntraced(function* (id, tokens) {
      const access = keyRing.seal(Redacted.value(tokens.access), { column: "national_logins.access_token", row: id })
      const refresh = keyRing.seal(Redacted.value(tokens.refresh), { column: "national_logins.refresh_token", row: id })
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const markStored = lane.windows.beginStore()
      // A deletion that is under way ends first, and then there is nothing to store tokens for.
      const [row] = yield* sql<{ readonly isStored: boolean }>`
        WITH ${fence(lane, now)}, credential AS (
          SELECT id FROM organizations
          WHERE id = ${id} AND credential_updated_at = ${new Date(tokens.credentialUpdatedAt)}::timestamptz FOR SHARE
        ), stored AS (
          INSERT INTO national_logins
            (id, credential_updated_at, access_valid_until, refresh_valid_until, access_token, refresh_token)
          SELECT id, ${new Date(tokens.credentialUpdatedAt)}::timestamptz, ${new Date(tokens.accessUntil)}::timestamptz,
                 ${new Date(tokens.refreshUntil)}::timestamptz, ${access}::bytea, ${refresh}::bytea
          FROM lane, credential
          ON CONFLICT (id) DO UPDATE SET
            credential_updated_at = excluded.credential_updated_at,
            access_valid_until    = excluded.access_valid_until,
            refresh_valid_until   = excluded.refresh_valid_until,
            access_token          = excluded.access_token,
            refresh_token         = excluded.refresh_token
          RETURNING id
        )
        SELECT EXISTS (SELECT 1 FROM stored) AS "isStored" FROM lane
      `
      if (row === undefined) return yield* new LaneLost({ nip: lane.nip })
      markStored()
      return row.isStored
    })
  })
})
