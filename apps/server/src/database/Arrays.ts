/**
 * Arrays as parameters of a statement. An empty array has a type, too.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** The type of the elements of an array. */
export type ElementType = keyof typeof PgTypes.OID

/** Makes an array parameter of one field of many rows. */
export const column = <A>(type: ElementType, rows: ReadonlyArray<A>, field: (row: A) => unknown): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(rows.map(field), PgTypes.OID[type]))

/** Makes a `text[]` parameter. */
export const textArray = (values: ReadonlyArray<string>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))
