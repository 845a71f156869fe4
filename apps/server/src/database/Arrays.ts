/**
 * Arrays as parameters of a statement. An empty array has a type, too.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** Makes an array parameter of one field of many rows. */
export const column = <A>(
  type: keyof typeof PgTypes.OID,
  rows: ReadonlyArray<A>,
  field: (row: A) => unknown
): PgTypes.Parameter => Result.getOrThrow(PgTypes.array(rows.map(field), PgTypes.OID[type]))

/** Makes a `text[]` parameter. */
export const textArray = (values: ReadonlyArray<string>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))
