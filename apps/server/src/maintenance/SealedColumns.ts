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
  { table: "webhook_endpoints", column: "headers", place: "webhook_endpoints.headers" },
  { table: "organizations", column: "credential", place: "organizations.credential" },
  { table: "offline_certificates", column: "private_key", place: "offline_certificates.private_key" },
  { table: "national_logins", column: "access_token", place: "national_logins.access_token" },
  { table: "national_logins", column: "refresh_token", place: "national_logins.refresh_token" }
]
