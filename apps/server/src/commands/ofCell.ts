/** Refuses what a command would write in the wrong cell. In a deployment that is not in cells, nothing is refused. */
import { Ids } from "@govoice/core"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { cellOf } from "../cells/directoryTables.ts"
import type { SettingsShape } from "../settings/Settings.ts"
import { CommandFailure } from "./CommandFailure.ts"

/** Accounts and their passwords are in the control cell. */
export const onControlCell = ({ cell }: SettingsShape): Effect.Effect<void, CommandFailure> =>
  cell?.controlDatabase === undefined
    ? Effect.void
    : Effect.fail(
        new CommandFailure({
          message: `Accounts live in the control cell, and this is cell ${cell.name}. Run the command with the control cell's settings.`
        })
      )

/** What an organization has is in the cell of its bucket. */
export const onCellOf = (
  { cell }: SettingsShape,
  id: Ids.OrganizationId
): Effect.Effect<void, CommandFailure | SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    if (cell === undefined) return
    const right = yield* cellOf(Ids.bucket(id))
    if (right !== undefined && right !== cell.name) {
      yield* new CommandFailure({
        message: `${id} lives in cell ${right}. Run the command with that cell's settings.`
      })
    }
  })
