/** What `govoice doctor` checks of a deployment in cells: its place in the directory, and the replication of the control tables. */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as controlTables from "../cells/controlTables.ts"
import * as Directory from "../cells/Directory.ts"
import * as directoryTables from "../cells/directoryTables.ts"
import type { SettingsShape } from "../settings/Settings.ts"
import { fault, type Finding, ok, warning } from "./Finding.ts"

const maxLagBytes = 100 * 1024 ** 2
const maxSilentSeconds = 60

const judgeSlot = ({ cell, is_active, lag }: controlTables.Slot): Finding => {
  const behind = `${(lag / 1024 ** 2).toFixed(1)} MiB behind`
  if (!is_active) {
    return fault(
      "cells",
      `Cell ${cell} does not read the control tables, and is ${behind}. This Postgres keeps the WAL for it until its disk is full.`,
      `See the log of the Postgres of cell ${cell}. If the cell is gone for good, run: SELECT pg_drop_replication_slot('${controlTables.slotOf(cell)}').`
    )
  }
  return lag > maxLagBytes
    ? warning(
        "cells",
        `Cell ${cell} is ${behind} with the control tables.`,
        `See the load of the Postgres of cell ${cell}.`
      )
    : ok("cells", `${cell} reads the control tables, ${behind}`)
}

const checkControl = Effect.gen(function* () {
  const cells = yield* directoryTables.cells
  const slots = yield* controlTables.slots
  const missing = cells.filter(({ is_control, name }) => !is_control && !slots.some(({ cell }) => cell === name))
  return [
    (yield* controlTables.isPublished)
      ? ok("cells", `the control cell of ${cells.length}`)
      : fault("cells", "The control tables are not published.", "Run 'govoice cells init'."),
    ...missing.map(({ name }) =>
      fault(
        "cells",
        `Cell ${name} has no replication slot.`,
        `Run 'govoice cells add' with the settings of cell ${name}.`
      )
    ),
    ...slots.map(judgeSlot)
  ]
})

const checkOther = Effect.map(controlTables.subscription, (subscription): Finding => {
  if (subscription === undefined) {
    return fault("cells", "The control tables are not subscribed to.", "Run 'govoice cells add'.")
  }
  const { incomplete, is_running, silent } = subscription
  if (!is_running || (silent ?? 0) > maxSilentSeconds) {
    return fault(
      "cells",
      "The control cell is not heard: new sessions and organizations do not arrive here.",
      "See the log of this Postgres, and whether it reaches the host of GOVOICE_CONTROL_DATABASE_URL."
    )
  }
  return incomplete > 0
    ? warning("cells", `The first copies of ${incomplete} control tables are not complete.`, "Wait, and check again.")
    : ok("cells", "the control tables arrive here")
})

/** Checks a migrated database. */
export const check = ({
  cell
}: SettingsShape): Effect.Effect<ReadonlyArray<Finding>, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    if (cell === undefined) return []
    const problem = yield* Directory.problem(cell)
    if (problem !== undefined) return [fault("cells", problem)]
    return cell.controlDatabase === undefined ? yield* checkControl : [yield* checkOther]
  })
