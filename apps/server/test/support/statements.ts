/** Compiles statements without a database. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Statement } from "effect/sql"

/** Makes fragments and statements that can be compiled but not run. */
export const sql = Statement.make(Effect.die("There is no database"), PgClient.makeCompiler(), [], undefined)
