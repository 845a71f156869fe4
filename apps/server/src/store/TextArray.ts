/**
 * Lists of texts as parameters of a statement. An empty list has a type too.
 *
 * @since 0.1.0
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/**
 * Makes a `text[]` parameter.
 *
 * @category constructors
 * @since 0.1.0
 */
export const textArray = (values: ReadonlyArray<string>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))
