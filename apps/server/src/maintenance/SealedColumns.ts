/** The columns with sealed values, for key rotation and the key check. */
import type { Place } from "../crypto/KeyRing.ts"

export interface SealedColumn {
  readonly table: string
  readonly column: string
  readonly place: Place["column"]
}

export const sealedColumns: ReadonlyArray<SealedColumn> = [
  { table: "webhook_endpoints", column: "secret", place: "webhook_endpoints.secret" },
  { table: "webhook_endpoints", column: "next_secret", place: "webhook_endpoints.secret" },
  { table: "organizations", column: "credential", place: "organizations.credential" },
  { table: "national_logins", column: "access_token", place: "national_logins.access_token" },
  { table: "national_logins", column: "refresh_token", place: "national_logins.refresh_token" }
]
